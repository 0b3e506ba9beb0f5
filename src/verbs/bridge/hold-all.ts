// `hold --all` and `release --all`: the hold of everything at a running bridge, set or released.
import { EXIT, needed, usageError, type VerbContext } from '../verb.ts';
import { act, show } from './act.ts';

/** The path of the hold of everything. */
const ALL = '/v1/holds/*';

/** The answer of `POST /v1/holds` with the EventId `*`. */
interface AllHeld {
  readonly submitting?: readonly string[];
}

/** Whether the command line asks for everything. @throws BridgeError BRIDGE_USAGE if it names an event or approver too */
export function isForAll({ values, positionals }: VerbContext): boolean {
  if (values['all'] !== true) return false;
  if (positionals.length > 0) throw usageError('give an EventId or --all, not both; see --help');
  if (values['approver'] !== undefined) throw usageError('--approver and --all exclude each other: give one of them');
  return true;
}

/** Holds everything. Returns the exit code. */
export async function holdAll(context: VerbContext): Promise<number> {
  const reason = needed(context, 'reason');
  const answer = await act(context, 'POST', '/v1/holds', { EventId: '*', reason });
  if (answer === null) return EXIT.failed;
  const { submitting = [] } = answer as AllHeld;
  await show(context, answer, [
    'EVERYTHING IS HELD: this bridge submits nothing, for no event, until `release --all`',
    ...submitting.map((eventId) => `${eventId} may start all the same: its StartRequest was sent before the hold`),
    'A hold does not stop Azure, which starts each event at its NotBefore.',
  ]);
  return EXIT.fine;
}

/** Releases the hold of everything. Returns the exit code. */
export async function releaseAll(context: VerbContext): Promise<number> {
  const answer = await act(context, 'DELETE', ALL);
  if (answer === null) return EXIT.failed;
  await show(context, { eventId: '*', released: true }, [
    'the hold of everything is released: this bridge submits at once what is decided',
  ]);
  return EXIT.fine;
}
