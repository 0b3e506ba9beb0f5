// An act of the operator on an event → requests to its bridges, and the result in words.
import { messageOf } from '../../errors.ts';
import { objectOf, stringOf } from '../../formats/json-object.ts';
import { askBridge } from '../bridge/bridge-client.ts';
import { readStory, storyLines } from '../bridge/event-story.ts';
import type { VerbContext } from '../verb.ts';
import type { FleetEvent } from './fleet-event.ts';
import type { WatchedBridge } from './watched-bridge.ts';

const TIMEOUT_MS = 30_000;

type ActContext = Pick<VerbContext, 'deps' | 'signal'>;

interface ActAnswer {
  readonly bridge: WatchedBridge;
  /** Null without an answer. */
  readonly status: number | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** Why it failed; null if it did not. */
  readonly fault: string | null;
}

/** Approves what is on the screen: if the event has got worse since, the bridge refuses. */
export async function approve(context: ActContext, { event, bridge }: FleetEvent): Promise<string> {
  const seen = event.cloudEventId === null ? {} : { Seen: event.cloudEventId };
  const body = { StartRequests: [{ EventId: event.eventId, ...seen }] };
  const answer = await send(context, bridge, 'POST', '/v1/approvals', body);
  if (answer.fault !== null) return `NOT approved: ${answer.fault}`;
  const results = answer.body['results'];
  const result = objectOf(Array.isArray(results) ? results[0] : null);
  return approvalWords(stringOf(result['state']), namesIn(result['waitingFor']), namesIn(result['heldBy']));
}

function approvalWords(state: string, waitingFor: string, heldBy: string): string {
  switch (state) {
    case 'submitted':
      return 'approved: Azure has accepted it';
    case 'started':
      return 'you had approved it before: it has started';
    case 'waiting':
      return `your approval is recorded; it waits for ${waitingFor}`;
    case 'held':
      return `your approval is recorded; it is held by ${heldBy}`;
    case 'submitting':
      return 'your approval is recorded; Azure has not accepted it yet, and the bridge tries again';
    case 'dry-run':
      return 'your approval is recorded; dry run: nothing is sent to Azure';
    default:
      return `the bridge answered: ${state}`;
  }
}

/** Holds the event at every bridge that lists it, because each approves by itself. */
export async function hold(context: ActContext, { event, bridges }: FleetEvent, reason: string): Promise<string> {
  const body = { EventId: event.eventId, reason };
  return summary('held', await everywhere(bridges, (bridge) => send(context, bridge, 'POST', '/v1/holds', body)));
}

/** Releases the holds at every bridge that has one. */
export async function release(context: ActContext, { event, bridges }: FleetEvent): Promise<string> {
  const held = bridges.filter((bridge) => (bridge.events.get(event.key)?.approval?.holds.length ?? 0) > 0);
  const path = `/v1/holds/${encodeURIComponent(event.eventId)}`;
  return summary('released', await everywhere(held, (bridge) => send(context, bridge, 'DELETE', path)));
}

/** Returns the story of the event at its bridge, as `explain` shows it. */
export async function storyOf(context: ActContext, { event, bridge }: FleetEvent): Promise<readonly string[]> {
  let fault: string | null = null;
  const story = await readStory(async (path) => {
    const answer = await send(context, bridge, 'GET', path);
    fault ??= answer.fault;
    return answer.fault === null ? answer.body : null;
  }, event.eventId);
  return story === null ? [`the story cannot be read: ${fault}`] : storyLines(story, context.deps.wallMs());
}

/** Ten bridges at a time. */
async function everywhere(
  bridges: readonly WatchedBridge[],
  act: (bridge: WatchedBridge) => Promise<ActAnswer>,
): Promise<readonly ActAnswer[]> {
  const answers: ActAnswer[] = [];
  for (let at = 0; at < bridges.length; at += 10)
    answers.push(...(await Promise.all(bridges.slice(at, at + 10).map(act))));
  return answers;
}

function summary(done: string, answers: readonly ActAnswer[]): string {
  const failed = answers.filter(({ fault }) => fault !== null);
  const [first] = failed;
  const of = answers.length === 1 ? '' : ` at ${answers.length - failed.length} of ${answers.length} bridges`;
  if (first === undefined) return `${done}${of}`;
  const why = `${first.bridge.name}: ${first.fault}`;
  return failed.length === answers.length ? `NOT ${done}: ${why}` : `${done}${of}; ${why}`;
}

async function send(
  context: ActContext,
  bridge: WatchedBridge,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: object,
): Promise<ActAnswer> {
  const { url, headers } = bridge.address;
  const json = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const text = body === undefined ? null : JSON.stringify(body);
  const request = { method, url: new URL(path, url), headers: { ...headers, ...json }, body: text } as const;
  try {
    const answer = await askBridge(request, context, TIMEOUT_MS);
    const parsed = objectOf(answer.body === '' ? null : JSON.parse(answer.body));
    return { bridge, status: answer.status, body: parsed, fault: faultIn(answer.status, parsed, headers) };
  } catch (error) {
    const fault = `no answer of the bridge: ${messageOf(error)}`;
    return { bridge, status: null, body: {}, fault };
  }
}

function faultIn(
  status: number,
  body: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>>,
): string | null {
  if (status >= 200 && status <= 299) return null;
  if (status === 401 && headers['Authorization'] === undefined)
    return "acting needs an approver's token: start top with --token-env NAME";
  return `${stringOf(body['detail']) || stringOf(body['title']) || 'no reason given'} (${status})`;
}

function namesIn(value: unknown): string {
  return Array.isArray(value) ? value.map(String).join(', ') : '';
}
