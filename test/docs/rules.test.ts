// docs/receive/rules.md → its function in Python, compared with the library's.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import type { LifeEvent } from '../../src/consumer/event.ts';
import { isNewer, lastEndOf } from '../../src/consumer/receive/last-end.ts';
import { scheduledEvent } from '../support/events.ts';
import { codeBlocksOf } from './markdown-page.ts';

const IDS = ['e:scheduled', 'e:scheduled:r2', 'e:ended:r3', 'e:ended:r10', 'e:r2x:ended', 'e:r:ended'];
const TIMES = ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z', '2026-01-01T00:01:00.000Z'];
const OBSERVERS = ['web_0', 'web_1', null];

function events(): LifeEvent[] {
  return IDS.flatMap((id) =>
    TIMES.flatMap((time) =>
      OBSERVERS.map((name) => {
        const data = {
          ...scheduledEvent(),
          previousStatus: null,
          observer: { name, documentIncarnation: 1, affected: true },
        };
        return {
          specversion: '1.0',
          id,
          source: '/s',
          type: 'x',
          time,
          data: { ...data, outcome: 'completed' },
        } as LifeEvent;
      }),
    ),
  );
}

test('the function of the page says of each pair what the library says', {
  skip: spawnSync('python3', ['--version']).status !== 0 && 'there is no python3',
}, () => {
  const [block] = codeBlocksOf('docs/receive/rules.md').filter(({ language }) => language === 'python');
  assert.ok(block);
  const pairs = events().flatMap((event) => events().map((ended) => [event, ended] as const));
  const program = `${block.text}\nimport json, sys\nprint(json.dumps([newer(*pair) for pair in json.load(sys.stdin)]))`;
  const { stdout, stderr } = spawnSync('python3', ['-c', program], {
    input: JSON.stringify(pairs),
    encoding: 'utf8',
    maxBuffer: 64e6,
  });
  const expected = pairs.map(([event, ended]) =>
    isNewer(event, lastEndOf(ended as Parameters<typeof lastEndOf>[0], 0)),
  );
  assert.deepEqual(JSON.parse(stdout || stderr), expected);
  assert.ok(expected.includes(true) && expected.includes(false));
});
