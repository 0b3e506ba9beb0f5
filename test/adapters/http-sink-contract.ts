// An HTTP log sink → a test for each shared clause, and for each answer that no sink changes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Disposition } from '../../src/errors.ts';
import type { Answer } from '../far-sides/webhook-receiver.ts';
import { CLAUSES, failureOf, type HttpClause } from './http-sink-clauses.ts';
import type { HttpSinkUnderTest } from './http-sink-under-test.ts';

const page = (status: number) => ({ status, body: '<html>Welcome</html>' });

const ANSWERS: readonly (readonly [what: string, answer: Answer, disposition: Disposition, code: string])[] = [
  ['401', page(401), 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED'],
  ['403', page(403), 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED'],
  ['404', page(404), 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED'],
  ['302', page(302), 'misconfigured', 'BRIDGE_SINK_MISCONFIGURED'],
  ['410', page(410), 'retired', 'BRIDGE_SINK_GONE'],
  ['413', page(413), 'refused', 'BRIDGE_SINK_REFUSED'],
  ['422', page(422), 'refused', 'BRIDGE_SINK_REFUSED'],
  ['a web page', page(200), 'retry', 'BRIDGE_SINK_ANSWER'],
  ['a closed connection', (_, socket) => socket.destroy(), 'retry', 'BRIDGE_SINK_BROKEN'],
  ['an answer that is not HTTP', (_, socket) => socket.end('\0garbage\r\n\r\n'), 'retry', 'BRIDGE_SINK_BROKEN'],
];
const RETRIED = [408, 425, 429, 500, 502, 503, 504];

/**
 * Declares one test for each shared clause and answer.
 * @param skip clauses that cannot apply to this sink, each with the reason, which the run prints
 */
export function httpSinkContract(under: HttpSinkUnderTest, skip: Partial<Record<HttpClause, string>> = {}): void {
  const { name, start } = under;
  for (const [clause, run] of Object.entries(CLAUSES) as [HttpClause, (typeof CLAUSES)[HttpClause]][])
    test(`${name}: ${clause}`, async (t) => {
      const reason = skip[clause];
      if (reason !== undefined) return t.skip(reason);
      await run(t, under);
    });
  for (const [what, answer, disposition, code] of ANSWERS)
    test(`${name}: ${what} is ${disposition}`, async (t) => {
      const { deliver, receiver } = await start(t);
      receiver.default = answer;
      const failure = await failureOf(deliver());
      assert.deepEqual([failure.disposition, failure.code], [disposition, code]);
      assert.ok(failure.message.startsWith(`sink under-test: ${new URL(receiver.url).origin} `), failure.message);
    });
  for (const status of RETRIED)
    test(`${name}: ${status} is retried, after Retry-After if it is given`, async (t) => {
      const { deliver, receiver } = await start(t);
      receiver.next({ ...page(status), headers: { 'retry-after': '9' } }, page(status));
      for (const pauseMs of [9000, undefined]) {
        const { disposition, code, retryAfterMs, status: said } = await failureOf(deliver());
        assert.deepEqual(
          [disposition, code, retryAfterMs, said],
          ['retry', 'BRIDGE_SINK_UNAVAILABLE', pauseMs, status],
        );
      }
    });
}
