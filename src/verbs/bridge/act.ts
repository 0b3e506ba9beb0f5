// --bridge and --token-env, or --config → requests to a bridge as an approver, and its answers.
import { messageOf } from '../../errors.ts';
import { isObject, type JsonObject } from '../../formats/json-object.ts';
import { visibleLine } from '../../formats/visible-text.ts';
import type { HttpRequest } from '../../net/http-exchange.ts';
import { type Fault, formatFault } from '../../schema/faults.ts';
import { adminToken, loadSection } from '../config.ts';
import { optionText, usageError, type VerbContext, type VerbOption } from '../verb.ts';
import {
  askBridge,
  authorization,
  BRIDGE_OPTIONS,
  type BridgeAnswer,
  type BridgeRequest,
  bridgeOrFile,
  bridgeUrl,
  DEFAULT_BRIDGE,
  ownRequest,
} from './bridge-client.ts';
import { wrap } from './fit-screen.ts';

/** A reload waits for those before it; a hold waits for a StartRequest. */
const TIMEOUT_MS = 30_000;

/** Options of verbs that act on a running bridge. */
export const ACT_OPTIONS = {
  json: { type: 'boolean', help: 'prints one JSON object on a terminal, too' },
  config: { type: 'string', value: 'FILE', help: 'the configuration of the running bridge' },
  ...BRIDGE_OPTIONS,
  'token-env': {
    type: 'string',
    value: 'NAME',
    help: 'the environment variable that holds the token; with --config, instead of the token of the first admin',
  },
} as const satisfies Readonly<Record<string, VerbOption>>;

/** For the usage line of these verbs. */
export const ACT_USAGE = '[--bridge URL] --token-env NAME | --config FILE';

/** For the description of these verbs. */
export const ACT_WORDS = `With --config it uses the bridge on this machine, and the token of the first approver with admin: true. The default is ${DEFAULT_BRIDGE}.
Prints one JSON object if standard output is not a terminal. Exits with 1 if the bridge refuses or does not answer; standard error has the reason.`;

/**
 * Returns a request for `/` of the bridge that the options name, with the token of an approver.
 * @throws BridgeError BRIDGE_USAGE, and what loading a configuration throws
 */
export async function approverRequest(context: VerbContext): Promise<BridgeRequest> {
  const { bridge, file } = bridgeOrFile(context);
  const hasToken = optionText(context, 'token-env') !== undefined;
  if (file !== undefined) {
    const headers = hasToken ? authorization(context) : { Authorization: `Bearer ${await adminToken(context, file)}` };
    return { ...ownRequest(await loadSection(file, 'http'), file, '/'), headers };
  }
  if (!hasToken) throw usageError('give --token-env NAME, or --config FILE with the token of an admin; see --help');
  return { method: 'GET', url: bridgeUrl(context, bridge ?? DEFAULT_BRIDGE, '/'), headers: authorization(context) };
}

/**
 * Returns a request for `/` of the bridge that the options name; a token is sent only if --token-env names one.
 * @throws like `approverRequest`
 */
export async function readerRequest(context: VerbContext): Promise<BridgeRequest> {
  const { bridge, file } = bridgeOrFile(context);
  const headers = optionText(context, 'token-env') === undefined ? {} : authorization(context);
  if (file !== undefined) return { ...ownRequest(await loadSection(file, 'http'), file, '/'), headers };
  return { method: 'GET', url: bridgeUrl(context, bridge ?? DEFAULT_BRIDGE, '/'), headers };
}

/** If the bridge needs a token, asks again with that of the first admin of --config, if this user can read it. */
export async function askAsReader(
  context: VerbContext,
  request: BridgeRequest,
  limitMs: number,
): Promise<BridgeAnswer> {
  const answer = await askBridge(request, context, limitMs);
  const file = optionText(context, 'config');
  if (answer.status !== 401 || file === undefined || 'Authorization' in (request.headers ?? {})) return answer;
  const token = await adminToken(context, file).catch(() => null);
  if (token === null) return answer;
  return await askBridge({ ...request, headers: { Authorization: `Bearer ${token}` } }, context, limitMs);
}

/** Returns `base` with another method and path. A body is sent as JSON. */
export function requestOf(
  base: BridgeRequest,
  method: HttpRequest['method'],
  path: string,
  body?: object,
): BridgeRequest {
  const request = { ...base, method, url: new URL(path, base.url) };
  if (body === undefined) return request;
  return {
    ...request,
    headers: { ...base.headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  };
}

/** Sends one request as an approver. Returns the answer, or null after a warning if the bridge refuses or is away. */
export async function act(
  context: VerbContext,
  method: HttpRequest['method'],
  path: string,
  body?: object,
): Promise<JsonObject | null> {
  const request = requestOf(await approverRequest(context), method, path, body);
  return await answerTo(context, request, () => askBridge(request, context, TIMEOUT_MS));
}

/** Like `act`, for a GET as a reader. */
export async function read(context: VerbContext, path: string): Promise<JsonObject | null> {
  const request = requestOf(await readerRequest(context), 'GET', path);
  return await answerTo(context, request, () => askAsReader(context, request, TIMEOUT_MS));
}

async function answerTo(
  context: VerbContext,
  { url }: BridgeRequest,
  ask: () => Promise<BridgeAnswer>,
): Promise<JsonObject | null> {
  const { origin } = new URL(url);
  try {
    const answer = await ask();
    const value = objectIn(answer.body);
    if (value !== null && answer.status < 300) return value;
    if (value === null) context.warn(`${origin} gave no answer of a bridge: it answered ${answer.status}`);
    else for (const line of refusalLines(answer.status, value)) context.warn(visibleLine(line));
  } catch (error) {
    const reason = context.signal.aborted ? 'interrupted; the bridge may have got the request' : messageOf(error);
    context.warn(visibleLine(`${origin} gave no answer of a bridge: ${reason}`));
  }
  return null;
}

/** Returns null if the body is not a JSON object, and so not an answer of a bridge. No body is an empty object. */
export function objectIn(body: string): JsonObject | null {
  if (body === '') return {};
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** A problem of the bridge: its detail, then each fault of the configuration and each key that needs a restart. */
function refusalLines(status: number, problem: JsonObject): readonly string[] {
  const {
    title,
    detail = title,
    faults = [],
    restart = [],
  } = problem as {
    readonly title?: string;
    readonly detail?: string;
    readonly faults?: readonly Fault[];
    readonly restart?: readonly string[];
  };
  return [
    `the bridge answered ${status}${detail === undefined ? '' : `: ${detail}`}`,
    ...faults.map(formatFault),
    ...restart.map((path) => `${path}: needs a restart`),
  ];
}

/** Prints the answer as JSON, or on a terminal these lines, which fit its width. */
export async function show(context: VerbContext, value: object, lines: readonly string[]): Promise<void> {
  const { isTTY, columns } = context.stdout;
  const isForPeople = isTTY && context.values['json'] !== true;
  const words = () => lines.flatMap((line) => wrap(visibleLine(line), columns || Infinity));
  for (const line of isForPeople ? words() : [JSON.stringify(value)]) await context.print(line);
}
