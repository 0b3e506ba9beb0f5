// A JSON body → one POST to a bridge's HTTP interface, past any proxy of the environment.
import { exchange } from '../net/http-exchange.ts';

/** Far above any answer of a bridge. */
const LONGEST_ANSWER = 1024 * 1024;

export interface BridgeAnswer {
  readonly status: number;
  readonly body: string;
}

/** Follows no redirect. Rejects with what the network says, or with the signal's reason. */
export async function postJson(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: object,
  signal: AbortSignal,
): Promise<BridgeAnswer> {
  const all = { ...headers, 'Content-Type': 'application/json' };
  const { status, body: answer } = await exchange(
    { method: 'POST', url, headers: all, body: JSON.stringify(body) },
    LONGEST_ANSWER,
    signal,
  );
  if (answer === null) throw new Error('the answer is larger than 1 MiB');
  return { status, body: answer.toString() };
}
