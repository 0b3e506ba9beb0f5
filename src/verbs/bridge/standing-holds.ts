// EventIds → the holds on them at the bridge on this machine, if one answers.
import { codeOf, messageOf } from '../../errors.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import { CONFIG_VARIABLE } from '../usage/help.ts';
import { optionText, type VerbContext } from '../verb.ts';
import { askAsReader, objectIn, readerRequest } from './act.ts';
import type { BridgeRequest } from './bridge-client.ts';

const TIMEOUT_MS = 5000;

interface ShownHold {
  readonly approver: string;
  readonly reason: string | null;
}

/**
 * Returns one line for each of the events that is held: who holds it, and why. Warns if the bridge answers but does not
 * show its holds; empty if no bridge answers. Asks the bridge of --config, or that at the default address.
 * @throws what loading a configuration throws
 */
export async function standingHolds(context: VerbContext, eventIds: readonly string[]): Promise<readonly string[]> {
  const base = await localRequest(context);
  if (base === null) return [];
  const lines: string[] = [];
  for (const eventId of eventIds) {
    const held = await heldBy(context, base, eventId);
    if (held === null) break;
    const holders = held.map(({ approver, reason }) => `${approver}${reason === null ? '' : ` (${reason})`}`);
    if (holders.length > 0) lines.push(`${eventId} is held by ${holders.join(', ')}`);
  }
  return lines;
}

/** Returns null, after a warning, if this user may not read the configuration that the environment names. */
async function localRequest(context: VerbContext): Promise<BridgeRequest | null> {
  try {
    return await readerRequest(context);
  } catch (error) {
    const isOwnChoice = optionText(context, 'config') !== context.env[CONFIG_VARIABLE];
    if (isOwnChoice || codeOf(error) !== 'BRIDGE_CONFIG_UNREADABLE') throw error;
    context.warn(visibleLine(`holds of the bridge on this machine are unknown: ${messageOf(error)}`));
    return null;
  }
}

/** Returns null if the bridge cannot be asked, which is the same for every event. */
async function heldBy(
  context: VerbContext,
  base: BridgeRequest,
  eventId: string,
): Promise<readonly ShownHold[] | null> {
  const { origin } = new URL(base.url);
  const url = new URL(`/v1/approvals/${encodeURIComponent(eventId)}`, base.url);
  try {
    const { status, body } = await askAsReader(context, { ...base, url }, TIMEOUT_MS);
    if (status === 404) return [];
    const { holds } = objectIn(body) ?? {};
    if (status === 200 && Array.isArray(holds)) return holds as readonly ShownHold[];
    context.warn(`the bridge at ${origin} answered ${status}, so its holds are unknown`);
  } catch (error) {
    context.signal.throwIfAborted();
    const isAbsent = error instanceof Error && codeOf(error.cause) === 'ECONNREFUSED';
    if (!isAbsent) context.warn(visibleLine(`the bridge at ${origin} does not show its holds: ${messageOf(error)}`));
  }
  return null;
}
