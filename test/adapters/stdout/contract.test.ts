// The adapter contract → stdout: a pipe into another process, whose own output is read.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { stdoutSink } from '../../../adapters/stdout/stdout.ts';
import { type Arrival, type FarSide, testAdapter } from '../contract.ts';

testAdapter({
  definition: stdoutSink,
  start: startReader,
  awayIs: 'retired',
  skip: {
    'a key that gets no answer does not hold up another':
      'standard output is one stream: all deliveries wait for its reader',
    'a refusal becomes a dead letter at once': 'a reader of standard output cannot refuse a line',
    'an overload is retried after the pause that the far side asks for':
      'a busy reader shows by reading slowly; nothing fails',
    'it recovers by itself when the far side is back on the same address':
      'a closed standard output never comes back within a process',
  },
});

/** Runs `cat`: the adapter writes to it, and the test reads its output. */
async function startReader(t: TestContext): Promise<FarSide> {
  const reader = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(reader, 'close');
  t.after(async () => {
    reader.kill('SIGKILL');
    await exited;
  });
  let output = Buffer.alloc(0);
  reader.stdout.on('data', (chunk: Buffer) => {
    output = Buffer.concat([output, chunk]);
  });
  await once(reader, 'spawn');
  const pipe = reader.stdin as Socket;
  return {
    options: { type: 'stdout' },
    secrets: {},
    stdout: pipe,
    arrivals: () => linesOf(output).map(arrival),
    contacts: () => pipe.bytesWritten + pipe.listenerCount('error') + output.length,
    hang: () => void reader.kill('SIGSTOP'),
    isStuck: () => pipe.writableLength > 0,
    // More than the buffers of a pipe or a socket pair.
    stuckBytes: 4 * 1024 ** 2,
    accept: () => void reader.kill('SIGCONT'),
    leave: async () => {
      reader.kill('SIGKILL');
      await exited;
    },
  };
}

/** Returns only complete lines. */
function linesOf(output: Buffer): string[] {
  return output.toString().split('\n').slice(0, -1);
}

function arrival(line: string): Arrival {
  return { bytes: Buffer.from(line), event: new CloudEvent(JSON.parse(line), true) };
}
