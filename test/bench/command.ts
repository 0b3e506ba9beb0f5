// A document change → the start of a program, beside a bare spawn; what greedy programs hold up.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, constants, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { hook } from '../support/running-bridge.ts';
import { BridgeBetween, pidOf } from './bridge-between.ts';
import { percentile, type Row, rssMb } from './figures.ts';

const CHANGES = 60;
const WARM_UP = 5;
const POLL_INTERVAL_MS = 100;

/** What a program does to be a nuisance, for some seconds; the outputs are its standard ones. */
const NUISANCES: Readonly<Record<string, string>> = {
  'nothing (no program)': '',
  'forks 200 processes': 'i=0; while [ $i -lt 200 ]; do sleep 1 & i=$((i+1)); done; wait',
  'floods 1 GB on both outputs': 'head -c 1000000000 /dev/zero >&2 & head -c 1000000000 /dev/zero; wait',
  'ignores TERM past its limit': `trap '' TERM; while :; do sleep 1; done`,
  'eats 500 MB of memory': `exec ${process.execPath} -e "const kept = Array.from({ length: 50 }, () => Buffer.alloc(1e7, 1)); setTimeout(() => kept, 1000)"`,
};

export async function command(): Promise<readonly Row[]> {
  const rows = await startLatency();
  for (const [what, body] of Object.entries(NUISANCES)) rows.push(...(await beside(what, body)));
  return rows;
}

function script(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

async function startLatency(): Promise<Row[]> {
  await using surroundings = await BridgeBetween.start();
  const { folder, metadata } = surroundings;
  const pipe = join(folder, 'started');
  execFileSync('mkfifo', [pipe]);
  const program = script(folder, 'program', `echo x > ${pipe}`);
  await using reader = await open(pipe, constants.O_RDWR);
  const bare: number[] = [];
  for (let round = 0; round < WARM_UP + CHANGES; round++) {
    const startedMs = performance.now();
    const child = spawn(program, [], { detached: true, stdio: 'pipe' });
    const exited = once(child, 'exit');
    bare.push((await nextStart(reader)) - startedMs);
    await exited;
  }
  await surroundings.startBridge(`${POLL_INTERVAL_MS / 2}ms`, {
    sinks: { program: { type: 'command', run: [program] } },
  });
  const bridge: number[] = [];
  for (let round = 0; round < WARM_UP + CHANGES; round++) {
    const started = nextStart(reader);
    const answered = metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${round}` }]);
    bridge.push((await started) - (await answered));
    await pause(30 + (round % 7) * 5);
  }
  return [0.5, 0.95].map((share) => {
    const [bridgeMs, bareMs] = [bridge, bare].map((samples) => percentile(samples.slice(WARM_UP), share)) as [
      number,
      number,
    ];
    const figure = `${bridgeMs.toFixed(2)} ms, bare spawn ${bareMs.toFixed(2)} ms: ${(bridgeMs / bareMs).toFixed(1)} ×`;
    return {
      what: `change → program started, p${share * 100} of ${CHANGES}`,
      figure,
      goal: share === 0.5 ? '≤ 3 ×' : '',
    };
  });
}

async function nextStart(reader: FileHandle): Promise<number> {
  await reader.read(Buffer.alloc(2), 0, 2, null);
  return performance.now();
}

/** How late polls are, and how long a webhook waits, while a program of another sink does this. */
async function beside(what: string, body: string): Promise<readonly Row[]> {
  await using surroundings = await BridgeBetween.start();
  const { folder, metadata, receiver } = surroundings;
  const sinks = {
    hooks: hook(receiver.url),
    ...(body === '' ? {} : { program: { type: 'command', run: [script(folder, 'program', body)], timeout: '2s' } }),
  };
  const bridge = await surroundings.startBridge(`${POLL_INTERVAL_MS}ms`, { sinks });
  const [lateness, latency]: [number[], number[]] = [[], []];
  let [lastMs, mostMb] = [await metadata.answered(), 0];
  for (let change = 0; change < 40; change++) {
    const received = surroundings.received();
    const atMs = await metadata.list([{ ...EXAMPLE_EVENT, Description: `change ${change}` }]);
    lateness.push(Math.max(0, atMs - lastMs - POLL_INTERVAL_MS));
    latency.push((await received) - atMs);
    mostMb = Math.max(mostMb, rssMb(pidOf(bridge)));
    lastMs = atMs;
  }
  const figure = `poll late p95 ${percentile(lateness, 0.95).toFixed(1)} ms, at most ${Math.max(...lateness).toFixed(1)} ms; webhook p95 ${percentile(latency, 0.95).toFixed(1)} ms; RSS ≤ ${mostMb.toFixed(0)} MB`;
  return [{ what: `with a program that: ${what}`, figure, goal: 'as without' }];
}
