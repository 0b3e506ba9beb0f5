// A source's options → a check that messages can be received, step by step.
import { orAbort } from '../../../src/time/clock.ts';
import type { ApprovalSourceDeps } from '../../approval-source.ts';
import type { NamespaceAccess } from '../connection/access.ts';
import { checkStep } from '../connection/check-step.ts';
import { BusClient, TOKEN_SCOPE } from '../connection/service-bus-client.ts';
import { type Probed, probeLink } from './link-probe.ts';
import { sourceFault } from './source-fault.ts';

interface SourceToCheck extends Probed {
  readonly access: NamespaceAccess;
  /** Milliseconds for each step. */
  readonly timeout: number;
}

/** @throws BridgeError with the failed step and the remedy, or the signal's reason */
export async function checkBusSource(
  source: SourceToCheck,
  deps: ApprovalSourceDeps,
  signal: AbortSignal,
): Promise<void> {
  const { access, place, timeout } = source;
  const step = <T>(work: (until: AbortSignal) => Promise<T>) =>
    checkStep(work, { place, timeout, faultOf: sourceFault }, deps, signal);
  const target = access.target();
  // Name, TLS and token are checked first, because the SDK's errors have fewer details.
  await step(async (until) => (await access.connector(target)(until)).destroy());
  const { credential } = target;
  if ('token' in credential) await step((until) => credential.token(TOKEN_SCOPE, until));
  const bus = await BusClient.create(target, access.connector(target), timeout, deps);
  try {
    await step((until) => orAbort(probeLink(bus, source, deps), AbortSignal.any([until, bus.lost])));
  } finally {
    await bus.close();
  }
}
