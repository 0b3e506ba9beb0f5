// docs/operate/logs.md → its fields are those that the sources log, in both directions.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { loggedFields } from './logged-fields.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/operate/logs.md'), 'utf8');

/** What the logger itself adds to every line. */
const OF_EVERY_LINE = ['level', 'time', 'msg'];

/** Fields whose names no call shows, by the file that logs them. */
const HANDED_ON: Readonly<Record<string, readonly string[]>> = {
  'adapters/kafka/client/client-logger.ts': [
    ...['broker', 'correlationId', 'size', 'groupId', 'memberId', 'topic', 'partition', 'retryCount', 'error'],
  ],
  'adapters/service-bus/source/link-messages.ts': ['queue', 'topic', 'subscription'],
  'src/approvals/approvals.ts': ['source', 'place', 'sink'],
  'src/auth/token-store.ts': ['approver', 'reader'],
  'src/bridge.ts': ['id', 'change', 'eventType', 'resources', 'notBefore', 'next'],
};

const { fields, unread } = loggedFields();

test('every call of a logger shows its fields, or is listed here', () => {
  assert.deepEqual(unread, Object.keys(HANDED_ON).sort());
  assert.ok(fields.size > 50, `only ${fields.size} fields were found`);
});

test('docs/operate/logs.md lists every field of a log line, and none that no line has', () => {
  const section = PAGE.slice(PAGE.indexOf('## Fields of every line'), PAGE.indexOf('## What is never logged'));
  const listed = [...section.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  );
  const logged = new Set([...OF_EVERY_LINE, ...fields.keys(), ...Object.values(HANDED_ON).flat()]);
  assert.deepEqual([...new Set(listed)].sort(), [...logged].sort());
});
