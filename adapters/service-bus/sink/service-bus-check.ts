// A sink's options → a check that messages can be sent, step by step, without sending one.
import { BridgeError } from '../../../src/errors.ts';
import type { Deps } from '../../../src/time/clock.ts';
import type { NamespaceAccess } from '../connection/access.ts';
import { checkStep } from '../connection/check-step.ts';
import { describeEntity, type EntityDescription } from '../connection/entity-description.ts';
import { TOKEN_SCOPE } from '../connection/service-bus-client.ts';
import type { Entity } from '../options/service-bus-options.ts';
import { connectionFault, type FaultPlace } from '../service-bus-fault.ts';
import type { BusSender } from './sender.ts';

interface SinkToCheck {
  readonly access: NamespaceAccess;
  readonly sender: BusSender;
  readonly place: FaultPlace;
  readonly entity: Entity;
  readonly sessions: boolean;
  /** Milliseconds for each step. */
  readonly timeout: number;
}

type CheckDeps = Pick<Deps, 'after' | 'wallMs'>;

/** Time limit of the optional description: its port may be closed although AMQP's is open. */
const DESCRIBE_MS = 3000;

/**
 * @returns a remark for the operator, or null.
 * @throws BridgeError with the failed step and the remedy, or the signal's reason
 */
export async function checkSink(sink: SinkToCheck, deps: CheckDeps, signal: AbortSignal): Promise<string | null> {
  const { access, sender, entity, sessions, place, timeout } = sink;
  const target = access.target();
  const limits = { place, timeout, faultOf: connectionFault };
  const step = <T>(work: (until: AbortSignal) => Promise<T>) => checkStep(work, limits, deps, signal);
  // Name, TLS and token are checked first, because the SDK's errors have fewer details.
  await step(async (until) => (await access.connector(target)(until)).destroy());
  const { credential } = target;
  if ('token' in credential) await step((until) => credential.token(TOKEN_SCOPE, until));
  await sender.attach(signal);
  // The emulator has a different management interface.
  if (!target.isSecure) return null;
  const described = await checkStep(
    (until) => describeEntity(access, target, entity.path, deps, until),
    { ...limits, timeout: Math.min(timeout, DESCRIBE_MS) },
    deps,
    signal,
  ).catch(() => null);
  signal.throwIfAborted();
  if (described?.requiresSession === true && !sessions) throw sessionsFault(place);
  return remarkOn(entity, described);
}

function remarkOn({ kind, path }: Entity, described: EntityDescription | null): string {
  if (described === null)
    return `a message could be sent; these rights do not show whether ${kind} ${path} drops repeats: check its requiresDuplicateDetection`;
  const { hasDuplicateDetection, duplicateWindow } = described;
  return hasDuplicateDetection
    ? `a message could be sent; ${kind} ${path} drops repeats of the last ${duplicateWindow ?? 'minutes'}`
    : `a message could be sent; ${kind} ${path} has no duplicate detection, so a repeat after a lost answer arrives twice (you can enable it only when you create the ${kind})`;
}

function sessionsFault({ who, entity }: FaultPlace): BridgeError {
  return new BridgeError(
    'BRIDGE_SERVICE_BUS_ENTITY',
    `${who} requires a session for each message to the ${entity}: set sessions: true`,
    {
      disposition: 'misconfigured',
      scope: 'sink',
    },
  );
}
