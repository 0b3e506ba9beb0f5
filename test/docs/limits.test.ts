// docs/operate/limits.md beside the sources → the numbers of the page are those of the program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/operate/limits.md'), 'utf8');

/** Where a bound stands, and the words of the page that name it. */
const BOUNDS: readonly [file: string, code: string, words: string][] = [
  ['src/model/approvals.ts', 'LARGEST_APPROVAL_BYTES = 64 * 1024;', '| body of a request | 64 KiB'],
  ['src/model/approvals.ts', 'LARGEST_APPROVAL_BYTES = 64 * 1024;', '| message of a source | 64 KiB'],
  [
    'src/approvals/requests/start-requests.ts',
    'LONGEST_EVENT_ID = 256;',
    '| EventId, name of an approver | 256 characters',
  ],
  ['src/approvals/requests/hold-requests.ts', 'LONGEST_REASON = 1000;', '| reason of a hold | 1000 characters'],
  ['src/metadata/http-transport.ts', 'MAX_BODY_BYTES = 4 * 1024 * 1024;', '| document of the metadata service | 4 MiB'],
  ['src/auth/key-set-request.ts', 'LARGEST_BYTES = 1024 * 1024;', '| key set of an issuer | 1 MiB'],
  ['src/outbox/approvals.ts', 'MOST_STEPS = 200;', '| 200 steps of each approver'],
  ['src/outbox/approvals.ts', 'MOST_WITHOUT_APPROVER = 500;', '500 steps without an approver'],
  ['src/outbox/approvals.ts', 'PART_BYTES = 128 * 1024;', '| 200 steps and 128 KiB of them'],
  ['src/http/approval-routes.ts', 'MOST = 200;', '| 200 steps and 128 KiB of them'],
  ['src/approvals/record/audit-steps.ts', 'MOST_REASONS = 10;', '| reasons of one hold | ten steps'],
  ['src/approvals/record/ledger.ts', 'MOST = 100;', '| 100 steps, each repetition once'],
  ['src/http/operators/journal-route.ts', 'MOST_BYTES = 256 * 1024;', '| 1,000 items, 256 KiB'],
  ['src/http/operators/dead-letter-routes.ts', 'BYTES_IN_A_TURN = 256 * 1024;', '| 100 rows, 256 KiB of CloudEvents'],
  ['src/http/stream/streams.ts', 'MOST_READERS = 1000;', '| 1,000; 250 of one caller'],
  ['src/http/stream/streams.ts', 'MOST_OF_ONE = MOST_READERS / 4;', '| 1,000; 250 of one caller'],
  ['src/http/stream/streams.ts', 'TURN_MS = 10;', '| 10 ms, and one event more'],
  ['src/http/failure-limit.ts', 'ADDRESSES = 1024;', '| 1024 addresses'],
  ['src/auth/jwt.ts', 'MOST_VERIFIED = 256;', '| verified JWTs | 256'],
  ['src/telemetry/cut-texts.ts', 'LONGEST = 512;', '| 512 characters of a text'],
  ['src/telemetry/cut-texts.ts', 'MOST_MEMBERS = 64;', '64 members of a list'],
  ['src/approvals/inbox/parked-messages.ts', 'MOST = 1000;', '| of each source 1000, 4 MiB'],
  ['src/approvals/inbox/parked-messages.ts', 'MOST_BYTES = 4 * 1024 * 1024;', '| of each source 1000, 4 MiB'],
  ['adapters/kafka/source/group-member.ts', 'PARTITIONS_AT_ONCE = 16;', 'one of each of 16 partitions'],
  ['adapters/kafka/source/group-consumer.ts', 'POLL_BYTES = 1024 ** 2;', 'read 1 MiB ahead'],
  ['adapters/service-bus/source/message-stream.ts', 'IN_FLIGHT = 8;', 'Service Bus: 8'],
  ['adapters/http/http-sink.ts', 'ANSWER_BYTES = 64 * 1024;', '| 64 KiB, and 4 KiB for each CloudEvent'],
  ['adapters/http/http-sink.ts', 'ANSWER_BYTES_OF_EVENT = 4 * 1024;', 'and 4 KiB for each CloudEvent of the request'],
  ['src/outbox/messages.ts', 'MOST_HANDLED = 100_000;', '| the last 100,000 of each source'],
  ['src/delivery/queue-reader.ts', 'AHEAD = 32;', 'rows are read 32 at a time'],
  ['src/outbox/dead-letters.ts', 'STEP = 200;', 'reads 200 at a time'],
];

for (const [file, code, words] of BOUNDS) {
  test(`${file} says ${code} and docs/operate/limits.md the same`, () => {
    assert.ok(
      readFileSync(join(ROOT, file), 'utf8').includes(code),
      `${file} has another number: tell it in docs/operate/limits.md, too`,
    );
    assert.ok(PAGE.includes(words), words);
  });
}
