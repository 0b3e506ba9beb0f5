// A Preempt with 30 s and with 10 s of notice → each kind of sink: how long until it has it.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { EXAMPLE_EVENT } from '../far-sides/metadata-service.ts';
import { poll } from '../support/poll.ts';
import type { Program } from '../support/program.ts';
import { TOKEN, urlOf } from '../support/running-bridge.ts';
import { BridgeBetween } from './bridge-between.ts';
import { sharedMs } from './clock.ts';
import { percentile, type Row } from './figures.ts';
import type { EventFields } from './metadata-service.ts';
import { KINDS, type PreemptFarSide, type PreemptKind } from './preempt-kinds.ts';

const TIMED = join(import.meta.dirname, 'preempt-timed.ts');
const POLL_INTERVAL = '100ms';
/** Of each notice, where nothing else is queued. */
const IDLE_ROUNDS = 15;
const QUEUED = 5_000;
const QUEUED_ROUNDS = 3;
const RELOAD_ROUNDS = 5;
/** At NotBefore it is too late. */
const NOTICES_MS = [30_000, 10_000] as const;
const SETTLE_MS = 500;
/** A kept connection may be closed for its age while the bridge has a document of 5,000 events to handle. */
const ONCE = { Connection: 'close' };

interface Sample {
  readonly noticeMs: number;
  /** From the answer to the poll that listed it until the far side had it; infinite if it came too late. */
  readonly tookMs: number;
  /** Rows that were still queued then. */
  readonly left?: number;
}

export async function preempt(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const kind of KINDS) {
    const measured = await measure(kind);
    for (const { what, figure } of measured) process.stderr.write(`  ${what}: ${figure}\n`);
    rows.push(...measured);
  }
  return rows;
}

async function measure(kind: PreemptKind): Promise<readonly Row[]> {
  const reason = kind.lacks?.() ?? false;
  if (reason) return [{ what: `Preempt → ${kind.type}`, figure: `not measured: ${reason}`, goal: '' }];
  const cases: readonly (readonly [
    what: string,
    samples: (machine: Machine, round: number) => Promise<readonly Sample[]>,
    rounds: number,
  ])[] =
    kind.busy === undefined
      ? [
          ['idle', (machine) => sampled(machine, IDLE_ROUNDS), 1],
          [`${QUEUED} rows queued`, queued, QUEUED_ROUNDS],
          ['a reload, one call hangs', reloaded, 1],
        ]
      : [[kind.busy.what, (machine, round) => busy(machine, kind.busy?.reboots ?? 0, round), kind.busy.machines]];
  const rows: Row[] = [];
  for (const [what, sample, rounds] of cases) {
    const samples: Sample[] = [];
    for (let round = 0; round < rounds; round++) {
      await using machine = await Machine.start(kind);
      samples.push(...(await sample(machine, round)));
    }
    rows.push({ what: `Preempt → ${kind.type}, ${what}`, figure: figureOf(samples), goal: '' });
  }
  return rows;
}

/** Of each notice, one after the other. */
async function sampled(
  machine: Machine,
  rounds: number,
  beside: readonly EventFields[] = [],
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round++)
    for (const noticeMs of NOTICES_MS) {
      samples.push(...(await machine.preempt([noticeMs], beside)));
      await machine.list(beside);
    }
  return samples;
}

/** They begin to go out just before both Preempts are announced in one document. */
async function queued(machine: Machine): Promise<readonly Sample[]> {
  await machine.order('pause');
  const events = Array.from({ length: QUEUED }, () => eventOf('Redeploy', 900_000));
  await machine.list(events);
  await poll(async () => (await machine.queued()) >= QUEUED, `${QUEUED} queued rows`, 60_000);
  await machine.order('resume');
  const samples = await machine.preempt(NOTICES_MS, events);
  const left = await machine.queued();
  return samples.map((sample) => ({ ...sample, left }));
}

/** A call of the old settings never ends. */
async function reloaded(machine: Machine): Promise<readonly Sample[]> {
  const hung = [eventOf('Freeze', 900_000)];
  await machine.list(hung);
  await pause(SETTLE_MS);
  const samples: Sample[] = [];
  for (let round = 0; round < RELOAD_ROUNDS; round++)
    for (const noticeMs of NOTICES_MS) {
      await machine.reload();
      samples.push(...(await machine.preempt([noticeMs], hung)));
      await machine.list(hung);
    }
  return samples;
}

/** Every place is taken by preparations that go on. */
async function busy(machine: Machine, count: number, round: number): Promise<readonly Sample[]> {
  const reboots = Array.from({ length: count }, () => eventOf('Reboot', 900_000));
  await machine.list(reboots);
  await pause(SETTLE_MS);
  // What acts on a Preempt goes on acting: one sample for each machine.
  return machine.isSeenActing
    ? await machine.preempt([NOTICES_MS[round % 2] ?? 0], reboots)
    : await sampled(machine, IDLE_ROUNDS, reboots);
}

/** A bridge with one sink, and its far side. */
class Machine implements AsyncDisposable {
  readonly #surroundings: BridgeBetween;
  readonly #far: PreemptFarSide;
  readonly #bridge: Program;
  readonly #accepted = new Map<string, (atMs: number) => void>();
  #reloads = 0;

  private constructor(surroundings: BridgeBetween, far: PreemptFarSide, bridge: Program) {
    this.#surroundings = surroundings;
    this.#far = far;
    this.#bridge = bridge;
    if (bridge.child.stderr === null) throw new Error('its standard error is not read');
    createInterface(bridge.child.stderr).on('line', (line) => {
      const [, key = '', at] = /^preempt (\S+) at (\S+)$/.exec(line) ?? [];
      this.#accepted.get(key)?.(Number(at));
    });
  }

  static async start(kind: PreemptKind): Promise<Machine> {
    const surroundings = await BridgeBetween.start();
    const far = await kind.start(surroundings.folder);
    const bridge = surroundings.spawnBridge(POLL_INTERVAL, sectionsOf(far, 0), {
      main: TIMED,
      env: { ...far.env, ADMIN_TOKEN: TOKEN },
    });
    const machine = new Machine(surroundings, far, bridge);
    await bridge.logs('"watching"');
    await pause(SETTLE_MS);
    return machine;
  }

  /** Whether a delivery is seen by what it does, before it is accepted. */
  get isSeenActing(): boolean {
    return this.#far.actsOn !== undefined;
  }

  /** Lists these events; resolves once a poll was answered so. */
  async list(events: readonly EventFields[]): Promise<void> {
    await this.#surroundings.metadata.list(events);
  }

  /** Announces one for each notice, all of them in one document, together with these events. */
  async preempt(noticesMs: readonly number[], beside: readonly EventFields[] = []): Promise<readonly Sample[]> {
    const announced = noticesMs.map((noticeMs) => ({ noticeMs, event: eventOf('Preempt', noticeMs) }));
    const arrivals = announced.map(({ noticeMs, event }) => this.#arrival(event.EventId, noticeMs));
    const answeredMs = sharedMs(
      await this.#surroundings.metadata.list([...beside, ...announced.map(({ event }) => event)]),
    );
    const arrivedMs = await Promise.all(arrivals);
    return noticesMs.map((noticeMs, place) => ({ noticeMs, tookMs: (arrivedMs[place] ?? Number.NaN) - answeredMs }));
  }

  /** When the far side has it; infinite if that is not within its notice. */
  async #arrival(eventId: string, noticeMs: number): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#accepted.set(eventId.toLowerCase(), resolve);
    const acts =
      this.#far.actsOn &&
      poll(() => this.#far.actsOn?.('Preempt') ?? false, 'the node to show it', noticeMs + SETTLE_MS).then(() =>
        sharedMs(),
      );
    const late = new AbortController();
    const atMs = await Promise.race([acts ?? promise, pause(noticeMs, Number.POSITIVE_INFINITY, late)]);
    late.abort();
    return atMs;
  }

  /** Other settings of the sink. */
  async reload(): Promise<void> {
    this.#reloads += 1;
    this.#surroundings.configure(POLL_INTERVAL, sectionsOf(this.#far, this.#reloads));
    this.#bridge.child.kill('SIGHUP');
    await poll(() => this.#bridge.stderr.split('was read again').length > this.#reloads, 'the reload in the log');
  }

  async order(what: 'pause' | 'resume'): Promise<void> {
    const answer = await fetch(`${urlOf(this.#bridge)}/v1/sinks/sink/${what}`, {
      method: 'POST',
      headers: { ...ONCE, Authorization: `Bearer ${TOKEN}` },
    });
    if (answer.status !== 200) throw new Error(`${what} was answered with ${answer.status}: ${await answer.text()}`);
  }

  async queued(): Promise<number> {
    const [sink] = (await (await fetch(`${urlOf(this.#bridge)}/v1/sinks`, { headers: ONCE })).json()) as readonly {
      readonly queued: number;
    }[];
    return sink?.queued ?? 0;
  }

  /** What is still queued is not waited for. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bridge.end('SIGKILL');
    await this.#far[Symbol.asyncDispose]();
    await this.#surroundings[Symbol.asyncDispose]();
  }
}

function sectionsOf({ sink }: PreemptFarSide, reloads: number) {
  const approvals = { approvers: { admin: { token: { env: 'ADMIN_TOKEN' }, admin: true } } };
  return { approvals, sinks: { sink: { ...sink, retry: { maxAge: `${24 - (reloads % 2)}h` } } } };
}

function eventOf(type: string, noticeMs: number): EventFields & { readonly EventId: string } {
  const NotBefore = new Date(Date.now() + noticeMs).toUTCString();
  return { ...EXAMPLE_EVENT, EventId: randomUUID().toUpperCase(), EventType: type, NotBefore };
}

function figureOf(samples: readonly Sample[]): string {
  const wordsOf = (ms: number) => (Number.isFinite(ms) ? `${ms.toFixed(0)} ms` : 'too late');
  const figures = NOTICES_MS.map((noticeMs) => {
    const took = samples.filter((sample) => sample.noticeMs === noticeMs).map(({ tookMs }) => tookMs);
    return `${noticeMs / 1000} s: p50 ${wordsOf(percentile(took, 0.5))}, at most ${wordsOf(Math.max(...took))}`;
  });
  const left = samples.flatMap((sample) => sample.left ?? []);
  return [...figures, ...(left.length === 0 ? [] : [`${Math.min(...left)} rows or more left`])].join('; ');
}
