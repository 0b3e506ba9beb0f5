// A URL and a count → that many readers in this process, which tell when each event has come.
// Lines on standard output: `open`, then `event ID MS MS …`: of each reader, once all have it.
import http from 'node:http';
import { wallMs } from './clock.ts';

const [url = '', count = '1'] = process.argv.slice(2);
const readers = Number(count);
const seen = new Map<string, number[]>();

// One after the other: who waits for an answer has a place among the connections, of which there are fewer.
for (let reader = 0; reader < readers; reader++) await follow();
process.stdout.write('open\n');

function follow(): Promise<void> {
  return new Promise((resolve) => {
    http.get(url, { agent: false }, (response) => {
      if (response.statusCode !== 200) throw new Error(`a reader was answered ${response.statusCode}`);
      resolve();
      let rest = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        const atMs = wallMs();
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const id = /^id: (\d+)\nevent/.exec(block)?.[1];
          if (id !== undefined) came(id, atMs);
        }
      });
    });
  });
}

function came(id: string, atMs: number): void {
  const moments = seen.get(id) ?? [];
  moments.push(atMs);
  seen.set(id, moments);
  if (moments.length < readers) return;
  seen.delete(id);
  process.stdout.write(`event ${id} ${moments.join(' ')}\n`);
}
