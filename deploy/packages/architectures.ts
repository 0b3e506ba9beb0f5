// x64 and arm64 → the names that Debian, Node, OCI and compilers have for them.

/** The `.deb`, `.rpm`, `.tar.gz` and image of each are made. */
export const ARCHITECTURES = ['x64', 'arm64'] as const;

export type Architecture = (typeof ARCHITECTURES)[number];

/** Debian's name, which is also that of Go, nfpm and OCI. */
export const DEBIAN_NAME = { x64: 'amd64', arm64: 'arm64' } as const;

/** The folder of Debian's libraries, and the prefix of the tools of binutils. */
export const TRIPLET = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' } as const;
