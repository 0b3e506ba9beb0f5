// A configuration that fits its schemas → the faults that adapters find in its options.
import type { Config } from '../config/config.ts';
import { createSource } from './approval-sources.ts';
import { type AdapterParts, createAdapter } from './sinks/sink-adapter.ts';

export type JudgeParts = Pick<AdapterParts, 'deps' | 'logger' | 'stdout'>;

/** No I/O. @throws BridgeError BRIDGE_CONFIG_INVALID */
export function judgeOptions(config: Config, { deps, logger, stdout }: JudgeParts): void {
  for (const name of Object.keys(config.sinks)) createAdapter(name, config, { deps, logger, stdout });
  for (const name of Object.keys(config.approvals.sources)) createSource(name, config, { deps, logger, observerId: '' });
}
