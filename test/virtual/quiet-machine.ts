// Settings → a machine for a diagnosis: one network card and free ports, unless it says otherwise.
import type { MachineProbe } from '../../src/diagnosis/machine.ts';

/** As `/proc/net/route` writes a default route by eth0. */
const ROUTES =
  'Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\neth0\t00000000\t0101000A\t0003\t0\t0\t100\t00000000\n';

export interface MachineSettings {
  /** From which address, or why not. */
  readonly source?: { readonly address: string } | { readonly code: string };
  readonly interfaces?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
  /** Code by port. */
  readonly taken?: Readonly<Record<number, string>>;
  /** Of every disk. */
  readonly freeBytes?: number | null;
}

export function quietMachine(settings: MachineSettings = {}): MachineProbe {
  const {
    source = { address: '10.0.0.4' },
    interfaces = { lo: '127.0.0.1', eth0: '10.0.0.4' },
    files = {},
    taken = {},
    freeBytes = 1e9,
  } = settings;
  return {
    sourceOf: async () => source,
    interfaces: () => Object.fromEntries(Object.entries(interfaces).map(([name, address]) => [name, [{ address }]])),
    text: (path) => files[path] ?? (path === '/proc/net/route' ? ROUTES : null),
    freeBytes: () => freeBytes,
    listenFault: async (_host, port) => taken[port] ?? null,
  };
}
