// deploy/ → the memory limit and the flags of Node with which the bridge is shipped.

const MIB = 1024 * 1024;

/** `mem_limit` of deploy/container/compose.yaml, and `limits.memory` of the chart, in bytes. */
export const SHIPPED_MEMORY = 96 * MIB;

/** As the image starts `run`. */
export const SHIPPED_FLAGS = [
  ...['--disable-sigusr1', '--no-opt', '--no-maglev', '--max-semi-space-size=1'],
  '--max-old-space-size-percentage=35',
];
