// A test → a syslog server on loopback and a sink that sends to it.
import type { TestContext } from 'node:test';
import * as v from 'valibot';
import type { Outcome } from '../../../adapters/adapter.ts';
import { SyslogAdapter } from '../../../adapters/syslog/syslog.ts';
import { syslogOptions } from '../../../adapters/syslog/syslog-options.ts';
import { type ManagedAdapter, manageAdapter } from '../../../src/delivery/managed-adapter.ts';
import type { Resolve } from '../../../src/net/private-addresses.ts';
import type { Deps } from '../../../src/time/clock.ts';
import { parsedMessage } from '../../far-sides/syslog/parsed-message.ts';
import { SyslogServer, type SyslogServerOptions } from '../../far-sides/syslog/syslog-server.ts';
import { adapterDeps, type TestDeps } from '../adapter-deps.ts';
import { openSecrets } from '../contract.ts';
import { type Sample, sampleDelivery } from '../sample-deliveries.ts';

interface SyslogSetup {
  /** Replaces defaults of the sink. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly time?: Deps;
  /** Replaces the system's name resolution. */
  readonly resolve?: Resolve;
}

interface Syslog {
  readonly adapter: ManagedAdapter;
  readonly deps: TestDeps;
  /** Delivers samples in one batch. */
  readonly deliver: (...samples: readonly Sample[]) => Promise<readonly Outcome[]>;
}

const never = new AbortController().signal;

export function createSyslog(t: TestContext, { options, time, resolve }: SyslogSetup): Syslog {
  const parsed = v.parse(syslogOptions, { settle: '20ms', ...options });
  openSecrets(parsed, {});
  const deps = adapterDeps(time ? { time } : {});
  const adapter = manageAdapter(new SyslogAdapter(parsed, deps, resolve), deps.name);
  t.after(() => adapter[Symbol.asyncDispose]());
  const deliver: Syslog['deliver'] = (...samples) =>
    adapter.deliver(samples.length === 0 ? [sampleDelivery()] : samples.map(sampleDelivery), never);
  return { adapter, deps, deliver };
}

export async function startSyslog(
  t: TestContext,
  { server: kind = { transport: 'tcp' }, ...setup }: SyslogSetup & { readonly server?: SyslogServerOptions } = {},
): Promise<Syslog & { readonly server: SyslogServer }> {
  const server = await SyslogServer.start(kind);
  t.after(() => server.stop());
  return { ...createSyslog(t, { ...setup, options: { server: server.url, ...setup.options } }), server };
}

/** Returns the ids of the CloudEvents that arrived, in order of arrival. */
export function idsOf({ messages }: Pick<SyslogServer, 'messages'>): readonly (string | undefined)[] {
  return messages.map((message) => parsedMessage(message).structuredData['cloudevent@32473']?.['id']);
}
