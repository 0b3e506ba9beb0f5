// `drill`: a simulated event on a running bridge → its report, and whether expectations were met.

import type { DrillReport } from '../../drills/report.ts';
import { BridgeError, messageOf } from '../../errors.ts';
import { isObject } from '../../formats/json-object.ts';
import { visible, visibleLine } from '../../formats/visible-text.ts';
import { drillEventId, isDrill } from '../../model/drills.ts';
import type { HttpRequest } from '../../net/http-exchange.ts';
import { deadline, sleep } from '../../time/clock.ts';
import { isConfirmed } from '../confirmation.ts';
import { EXIT, optionText, usageError, type Verb, type VerbContext } from '../verb.ts';
import { approverRequest, objectIn, requestOf } from './act.ts';
import { askBridge, BRIDGE_OPTIONS, type BridgeAnswer, type BridgeRequest } from './bridge-client.ts';
import { actingLines, EXPECTATIONS, type Expectation, failures, isSettled, reportLines } from './drill-report.ts';
import type { ShownSink } from './status-view.ts';

const TIMEOUT_MS = 10_000;
const PAUSE_MS = 500;
/** How long sinks may take after the end of the drill. */
const SINKS_MS = 30_000;
/** How long a bridge may not answer: after a restart it continues its drills. */
const AWAY_MS = 60_000;
/** How long the bridge may take to confirm a cancellation before this program must end. */
const CANCEL_MS = 1500;

/** The bridge did not answer, or is starting: worth a retry. */
class BridgeAway extends BridgeError {
  constructor(message: string) {
    super('BRIDGE_DRILL_FAILED', message);
  }
}

/** Sends one request to the bridge, as the admin. */
type Ask = (method: HttpRequest['method'], path: string, body?: object, signal?: AbortSignal) => Promise<BridgeAnswer>;

export const drillVerb: Verb = {
  usage:
    '--bridge URL --token-env NAME | --config FILE [--type T] [--resources A,B] [--notice 2m] [--duration 30s] [--expect E,E] [--force] [--yes] [--json]',
  description: `Creates a simulated event on a running bridge, as an admin. The event goes through the real store, sinks and approvals, marked as a drill. Nothing is sent to the metadata service.
Names the sinks that act on a drill (command, kubernetes), and asks on a terminal before it begins.
Waits for the end of the drill, then at most 30 s for sinks that have not given up, and prints the report (as JSON if standard output is not a terminal). Exits with 1 if an expectation failed; standard error has the reason.
With --config it uses the bridge on this machine, and the token of the first approver with admin: true. An interrupt cancels the drill.`,
  options: {
    type: { type: 'string', value: 'T', help: 'the EventType; Reboot by default' },
    resources: {
      type: 'string',
      value: 'A,B',
      help: 'the machines that the event names; by default the machine of the bridge',
    },
    notice: { type: 'string', value: '2m', help: 'the time from announcement to NotBefore' },
    duration: { type: 'string', value: '30s', help: 'the time from start to end' },
    expect: {
      type: 'string',
      value: 'E,E',
      help: 'approvals: approved before NotBefore; deliveries: every sink accepted every change',
    },
    force: { type: 'boolean', help: 'starts the drill even if a real event is listed' },
    yes: { type: 'boolean', help: 'starts the drill on a terminal, too, without asking' },
    json: { type: 'boolean', help: 'prints the report as JSON on a terminal, too' },
    config: { type: 'string', value: 'FILE', help: 'the configuration of the running bridge' },
    ...BRIDGE_OPTIONS,
  },
  examples: [
    [
      'scheduled-events-bridge drill --bridge http://127.0.0.1:8700 --token-env ADMIN_TOKEN --expect approvals,deliveries',
      'test all sinks and approvers',
    ],
    [
      'scheduled-events-bridge drill --config /etc/scheduled-events-bridge/bridge.yaml --type Redeploy --notice 10m',
      'on the machine of the service',
    ],
  ],
  async run(context) {
    const expected = expectationsIn(optionText(context, 'expect'));
    const ask = asker(context, await approverRequest(context));
    if (!(await isWanted(ask, context))) return EXIT.failed;
    const id = await begin(ask, requestIn(context));
    try {
      const report = await untilSettled(ask, id, context);
      await print(context, report);
      const failed = failures(report, expected);
      for (const failure of failed) context.warn(visibleLine(failure));
      return failed.length > 0 ? EXIT.failed : EXIT.fine;
    } catch (error) {
      if (!context.signal.aborted) {
        context.warn(visibleLine(`the drill ${id} continues if its bridge is running; its result is unknown`));
        throw error;
      }
      context.warn(await cancel(ask, id, context));
      return EXIT.failed;
    }
  },
};

/** Names the sinks that act on a drill. Returns false if a person on the terminal does not want it. */
async function isWanted(ask: Ask, context: VerbContext): Promise<boolean> {
  for (const line of actingLines(sinksIn(await ask('GET', '/v1/sinks')))) context.warn(visibleLine(line));
  const isAsked = context.stdin.isTTY && context.stderr.isTTY && context.values['yes'] !== true;
  if (!isAsked || (await isConfirmed(context, 'Start the drill? [y/N] '))) return true;
  context.warn('no drill was started');
  return false;
}

/** @throws BridgeError BRIDGE_DRILL_FAILED for another answer than a list */
function sinksIn(answer: BridgeAnswer): readonly ShownSink[] {
  const { status, body } = answer;
  if (status !== 200) valueIn(answer, 200);
  try {
    const value: unknown = JSON.parse(body);
    if (Array.isArray(value)) return value.filter(isObject) as unknown as readonly ShownSink[];
  } catch {}
  throw new BridgeError('BRIDGE_DRILL_FAILED', 'the answer of the bridge has no list of sinks');
}

/** Prints plain words on a terminal, and JSON elsewhere. */
async function print(context: VerbContext, report: DrillReport): Promise<void> {
  const isForPeople = context.stdout.isTTY && context.values['json'] !== true;
  if (!isForPeople) return await context.print(visible(JSON.stringify(report, null, 2)));
  for (const { text, colour } of reportLines(report)) await context.print(visibleLine(text), colour);
}

function expectationsIn(given: string | undefined): readonly Expectation[] {
  return (given === undefined ? [] : given.split(',')).map((word) => {
    const found = EXPECTATIONS.find((known) => known === word.trim());
    if (found === undefined)
      throw usageError(`--expect takes ${EXPECTATIONS.join(' and ')}, not "${visibleLine(word)}"`);
    return found;
  });
}

/** The bridge checks the values. */
function requestIn(context: VerbContext): object {
  const resources = optionText(context, 'resources');
  const given = {
    eventType: optionText(context, 'type'),
    notice: optionText(context, 'notice'),
    duration: optionText(context, 'duration'),
  };
  return {
    ...given,
    resources: resources?.split(',').map((name) => name.trim()),
    force: context.values['force'] === true,
  };
}

function asker(context: VerbContext, base: BridgeRequest): Ask {
  return async (method, path, body, signal = context.signal) => {
    try {
      return await askBridge(requestOf(base, method, path, body), { deps: context.deps, signal }, TIMEOUT_MS);
    } catch (error) {
      signal.throwIfAborted();
      throw new BridgeAway(`${new URL(base.url).origin} gave no answer of a bridge: ${messageOf(error)}`);
    }
  };
}

async function begin(ask: Ask, request: object): Promise<string> {
  // An interrupt waits for the answer, which has the id to cancel.
  const answer = await ask('POST', '/v1/drills', request, new AbortController().signal);
  const { id } = valueIn<{ readonly id?: unknown }>(answer, 201);
  if (typeof id !== 'string' || !isDrill(drillEventId(id)))
    throw new BridgeError('BRIDGE_DRILL_FAILED', 'the answer of the bridge has no id for the drill');
  return id;
}

/** Waits until the drill has ended and no delivery is queued, or until the time for sinks is over. */
async function untilSettled(ask: Ask, id: string, { deps, signal, warn }: VerbContext): Promise<DrillReport> {
  let endedMs: number | null = null;
  let lastAnswerMs = deps.elapsedMs();
  let lastWarning = '';
  for (;;) {
    try {
      const report = valueIn<DrillReport>(await ask('GET', `/v1/drills/${id}`), 200);
      lastAnswerMs = deps.elapsedMs();
      if (report.state === 'ended' || report.state === 'canceled') {
        endedMs ??= lastAnswerMs;
        if (isSettled(report) || lastAnswerMs - endedMs >= SINKS_MS) return report;
      }
    } catch (error) {
      if (!(error instanceof BridgeAway) || deps.elapsedMs() - lastAnswerMs >= AWAY_MS) throw error;
      const warning = visibleLine(`${error.message}; retrying`);
      if (warning !== lastWarning) warn(warning);
      lastWarning = warning;
    }
    await sleep(deps, PAUSE_MS, signal);
  }
}

async function cancel(ask: Ask, id: string, { deps }: VerbContext): Promise<string> {
  using limit = deadline(deps, CANCEL_MS, () => new Error('no answer'));
  try {
    valueIn(await ask('DELETE', `/v1/drills/${id}`, undefined, limit.signal), 204);
    return `the drill ${id} is cancelled`;
  } catch (error) {
    return visibleLine(`the drill ${id} continues, because it could not be cancelled: ${messageOf(error)}`);
  }
}

/** @throws BridgeError BRIDGE_DRILL_FAILED for another status, with the bridge's `detail` */
function valueIn<T>({ status, body }: BridgeAnswer, expected: number): T {
  const value = objectIn(body);
  if (status === expected && value !== null) return value as T;
  const detail = value?.['detail'];
  const message = visibleLine(`the bridge answered ${status}${typeof detail === 'string' ? `: ${detail}` : ''}`);
  throw status === 503 ? new BridgeAway(message) : new BridgeError('BRIDGE_DRILL_FAILED', message);
}
