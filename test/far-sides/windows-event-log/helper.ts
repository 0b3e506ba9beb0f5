// A folder; request lines on standard input → entries in a file of the folder, and answers.
// As the helper on Windows. The file `mode` says how it behaves: accept, hang, end, babble, or the error code of each answer.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const folder = process.argv[2] as string;
const fileOf = (name: string) => join(folder, name);
const mode = () => (existsSync(fileOf('mode')) ? readFileSync(fileOf('mode'), 'utf8') : 'accept');

appendFileSync(fileOf('starts'), `${process.pid}\n`);
if (mode() === 'end') fail('cannot open the log');

for await (const line of createInterface({ input: process.stdin })) {
  if (mode() === 'end') fail('the log is gone');
  if (mode() === 'babble') process.stdout.write('this is no answer\n');
  else if (mode() === 'hang') appendFileSync(fileOf('stuck'), line);
  else answer(line);
}

function answer(line: string): void {
  const code = mode() === 'accept' ? 0 : Number(mode());
  const request = JSON.parse(line) as { readonly text?: string };
  if (code === 0 && request.text !== undefined) appendFileSync(fileOf('entries'), `${line}\n`);
  process.stdout.write(`${JSON.stringify(code === 0 ? { code } : { code, message: `error ${code}` })}\n`);
}

function fail(reason: string): never {
  process.stderr.write(reason);
  process.exit(3);
}
