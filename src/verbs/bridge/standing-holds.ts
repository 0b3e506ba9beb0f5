// EventIds → the holds on them at the bridge on this machine, if one answers.
import { codeOf, messageOf } from '../../errors.ts';
import { isObject } from '../../formats/json-object.ts';
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
 * Returns one line for each of the events that is held, or one for a hold of everything: who holds it, and why. Warns if the bridge answers but does not
 * show its holds; empty if no bridge answers. Asks the bridge of --config, or that at the default address.
 * @throws what loading a configuration throws
 */
export async function standingHolds(context: VerbContext, eventIds: readonly string[]): Promise<readonly string[]> {
  const base = await localRequest(context);
  if (base === null) return [];
  const all = await allHeldBy(context, base);
  if (all !== null) return [all];
  const lines: string[] = [];
  for (const eventId of eventIds) {
    const held = await heldBy(context, base, eventId);
    if (held === null) break;
    const holders = held.map(({ approver, reason }) => `${approver}${reason === null ? '' : ` (${reason})`}`);
    if (holders.length > 0) lines.push(`${eventId} is held by ${holders.join(', ')}`);
  }
  return lines;
}

/**
 * Returns null if no hold of everything stands, or if the bridge does not show it. It counts also for an event that is
 * too new for the bridge to know.
 */
async function allHeldBy(context: VerbContext, base: BridgeRequest): Promise<string | null> {
  try {
    const { body } = await askAsReader(context, { ...base, url: new URL('/v1/events', base.url) }, TIMEOUT_MS);
    const { heldAll } = objectIn(body) ?? {};
    if (!isObject(heldAll)) return null;
    const { by, reason } = heldAll;
    return `everything is held by ${by}${typeof reason === 'string' ? ` (${reason})` : ''}`;
  } catch {
    // The requests for the events tell why.
    context.signal.throwIfAborted();
    return null;
  }
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
