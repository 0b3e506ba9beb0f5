// A kind of sink, a far side read from outside → a test for each clause of the adapter contract.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { inspect } from 'node:util';
import { CloudEvent } from 'cloudevents';
import * as v from 'valibot';
import type { AdapterDefinition, Outcome } from '../../adapters/adapter.ts';
import { type ManagedAdapter, manageAdapter } from '../../src/delivery/managed-adapter.ts';
import { BridgeError, type Disposition } from '../../src/errors.ts';
import type { Delivery } from '../../src/model/deliveries.ts';
import { Secret } from '../../src/secrets/secret.ts';
import { poll } from '../support/poll.ts';
import { adapterDeps, type TestDeps } from './adapter-deps.ts';
import { sampleDelivery } from './sample-deliveries.ts';

/** A CloudEvent that came out at the far side. */
export interface Arrival {
  /** What arrived of this CloudEvent: its structured JSON, or whatever the mode makes of it. */
  readonly bytes: Uint8Array;
  /** The same, decoded by the CloudEvents SDK's own binding where there is one. */
  readonly event: CloudEvent<unknown>;
}

/** The other side of an adapter, under the test's control and read without the adapter's help. */
export interface FarSide {
  /** The sink's options as the configuration would hold them. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Values of the secrets that `options` names by `env`; none of them may show up anywhere. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Where `deps.stdout` leads. */
  readonly stdout?: Writable;
  arrivals(): readonly Arrival[];
  /** Signs of contact so far: connections, bytes, listeners. */
  contacts(): number;
  /** From now on a delivery of `stuckBytes` gets no answer. `isStuck`: one has got that far. */
  hang(): void;
  isStuck(): boolean;
  readonly stuckBytes: number;
  /** From now on deliveries are accepted again, as at the start. */
  accept(): void;
  refuse?(): void;
  /** Asks for a pause of 7 s. */
  overload?(): void;
  leave(): Promise<void>;
  /** On the same address. */
  comeBack?(): Promise<void>;
}

export interface AdapterUnderTest<Options> {
  readonly definition: AdapterDefinition<Options>;
  /** What is tested of this type, such as a mode; goes into the titles. */
  readonly variant?: string;
  /** What arrives of a delivery at the far side; by default its bytes as they are. */
  readonly onTheWire?: (delivery: Delivery) => Uint8Array;
  /** A fresh far side; cleans up by `t.after`. */
  readonly start: (t: TestContext) => Promise<FarSide>;
  /** What a delivery asks of its lane while the far side is away. */
  readonly awayIs: Disposition;
  /** Clauses that cannot apply to this kind of sink, each with the reason. */
  readonly skip?: Partial<Record<Clause, string>>;
}

interface ClauseContext {
  readonly adapter: ManagedAdapter;
  readonly far: FarSide;
  readonly deps: TestDeps;
  readonly awayIs: Disposition;
  readonly onTheWire: (delivery: Delivery) => Uint8Array;
  /** Delivers one sample; the test's own signal never aborts. */
  readonly deliver: (sample?: Parameters<typeof sampleDelivery>[0]) => Promise<Outcome>;
}

const never = new AbortController().signal;

const CLAUSES = {
  'a delivery arrives as a valid CloudEvent, its bytes unchanged': async ({ deliver, far, onTheWire }) => {
    assert.equal(await deliver({ seq: 1 }), 'accepted');
    await poll(() => far.arrivals().length >= 1, 'the delivery');
    const [arrival] = far.arrivals();
    assert.ok(arrival);
    const sent = sampleDelivery({ seq: 1 });
    assert.deepEqual(Buffer.from(arrival.bytes), Buffer.from(onTheWire(sent)));
    assert.ok(arrival.event.validate());
    const expected = new CloudEvent(JSON.parse(Buffer.from(sent.bytes).toString()), true);
    assert.equal(expected.id, sent.id);
    assert.deepEqual(arrival.event.toJSON(), expected.toJSON());
  },

  'a redelivery bears the same id and the same bytes': async ({ deliver, far }) => {
    assert.equal(await deliver({ seq: 1 }), 'accepted');
    assert.equal(await deliver({ seq: 1 }), 'accepted');
    await poll(() => far.arrivals().length >= 2, 'both attempts');
    const [first, second] = far.arrivals();
    assert.equal(first?.event.id, second?.event.id);
    assert.deepEqual(first?.bytes, second?.bytes);
  },

  'a batch has one outcome for each member and arrives in order': async ({ adapter, far }) => {
    const batch = Array.from({ length: Math.min(adapter.limits.batch, 10) }, (_, index) =>
      sampleDelivery({ seq: index + 1 }),
    );
    assert.deepEqual(
      await adapter.deliver(batch, never),
      batch.map(() => 'accepted'),
    );
    await poll(() => far.arrivals().length >= batch.length, 'the whole batch');
    assert.deepEqual(
      far.arrivals().map(({ event }) => event.id),
      batch.map(({ id }) => id),
    );
  },

  'a key that gets no answer does not hold up another': async ({ adapter, deliver, far }) => {
    assert.ok(adapter.limits.inFlight > 1);
    far.hang();
    const controller = new AbortController();
    const stuck = adapter.deliver(
      [sampleDelivery({ seq: 1, partitionKey: 'a', padding: far.stuckBytes })],
      controller.signal,
    );
    const ended = assert.rejects(stuck);
    await poll(() => far.isStuck(), 'the delivery to get stuck');
    far.accept();
    assert.equal(await deliver({ seq: 2, partitionKey: 'b' }), 'accepted');
    controller.abort();
    await ended;
  },

  'a refusal becomes a dead letter at once': async ({ deliver, far }) => {
    far.refuse?.();
    const failure = failed(await deliver());
    assert.equal(failure.disposition, 'refused');
    assert.equal(failure.scope, 'delivery');
  },

  'an overload is retried after the pause that the far side asks for': async ({ deliver, far }) => {
    far.overload?.();
    const failure = failed(await deliver());
    assert.equal(failure.disposition, 'retry');
    assert.equal(failure.retryAfterMs, 7000);
  },

  'an unreachable far side is a failure of the whole sink': async ({ deliver, far, adapter, awayIs }) => {
    await far.leave();
    const failure = failed(await deliver());
    assert.equal(failure.disposition, awayIs);
    assert.equal(failure.scope, 'sink');
    assert.equal(failure.retryAfterMs, undefined);
    await assert.rejects(adapter.check(never), BridgeError);
  },

  'it recovers by itself when the far side is back on the same address': async ({ deliver, far, adapter }) => {
    assert.equal(await deliver({ seq: 1 }), 'accepted');
    await far.leave();
    failed(await deliver({ seq: 2 }));
    await far.comeBack?.();
    assert.equal(await deliver({ seq: 2 }), 'accepted');
    await adapter.check(never);
  },

  'an abort ends a delivery at once, with its own reason': async ({ adapter, deliver, far }) => {
    far.hang();
    const controller = new AbortController();
    const reason = new Error('the bridge is stopping');
    const stuck = adapter.deliver([sampleDelivery({ seq: 1, padding: far.stuckBytes })], controller.signal);
    const ended = assert.rejects(stuck, (error) => error === reason);
    await poll(() => far.isStuck(), 'the delivery to get stuck');
    controller.abort(reason);
    await ended;
    await assert.rejects(adapter.deliver([sampleDelivery({ seq: 2 })], controller.signal), (error) => error === reason);
    await assert.rejects(adapter.check(controller.signal), (error) => error === reason);
    far.accept();
    assert.equal(await deliver({ seq: 3 }), 'accepted');
  },

  'it closes under load and loses nothing that it accepted': async ({ adapter, far }) => {
    const accepted: string[] = [];
    let seq = 0;
    const load = async (partitionKey: string) => {
      for (;;) {
        const delivery = sampleDelivery({ seq: ++seq, partitionKey });
        const [outcome] = await adapter.deliver([delivery], never);
        if (outcome !== 'accepted') return outcome;
        accepted.push(delivery.id);
      }
    };
    const loads = Array.from({ length: Math.min(adapter.limits.inFlight, 8) }, (_, index) => load(`key-${index}`));
    await poll(() => accepted.length >= 50, 'the load to run');
    await adapter[Symbol.asyncDispose]();
    for (const outcome of await Promise.all(loads)) assert.equal(failed(outcome).code, 'BRIDGE_ADAPTER_CLOSED');
    await poll(() => far.arrivals().length >= accepted.length, 'what was accepted');
    const arrived = new Set(far.arrivals().map(({ event }) => event.id));
    assert.deepEqual(
      accepted.filter((id) => !arrived.has(id)),
      [],
    );
  },

  'it closes twice without harm, and refuses work afterwards': async ({ adapter, deliver }) => {
    assert.equal(await deliver(), 'accepted');
    await Promise.all([adapter[Symbol.asyncDispose](), adapter[Symbol.asyncDispose]()]);
    await adapter[Symbol.asyncDispose]();
    const failure = failed(await deliver());
    assert.equal(failure.code, 'BRIDGE_ADAPTER_CLOSED');
    assert.equal(failure.disposition, 'retry', 'what came too late stays queued');
    await assert.rejects(adapter.check(never), { code: 'BRIDGE_ADAPTER_CLOSED' });
  },

  'created and closed unused, it opens nothing': async ({ adapter, far }) => {
    const before = far.contacts();
    await adapter[Symbol.asyncDispose]();
    assert.equal(far.contacts(), before);
  },

  'a check finds the far side and sends nothing': async ({ adapter, deliver, far }) => {
    await adapter.check(never);
    assert.deepEqual(far.arrivals(), []);
    assert.equal(await deliver(), 'accepted');
    await poll(() => far.arrivals().length >= 1, 'the delivery');
    assert.equal(far.arrivals().length, 1, 'what arrived first is the delivery');
  },

  'no secret and no payload leaks into errors, logs or options': async ({ adapter, deliver, far, deps }) => {
    const mark = 'a-payload-nobody-may-log';
    const shown: unknown[] = [adapter, await deliver({ mark })];
    for (const misbehave of [far.refuse, far.overload]) {
      misbehave?.call(far);
      shown.push(await deliver({ mark }));
    }
    await far.leave();
    shown.push(await deliver({ mark }), await adapter.check(never).catch((error: unknown) => error));
    await adapter[Symbol.asyncDispose]();
    shown.push(await deliver({ mark }));
    const errors = shown.filter((what) => what instanceof Error);
    const text = [
      deps.logged(),
      ...errors.map((error) => inspect(error, { depth: 20, showHidden: true })),
      ...shown.map((what) => JSON.stringify(what)),
    ].join('\n');
    assert.ok(errors.length >= 3);
    for (const word of [mark, ...Object.values(far.secrets)])
      assert.ok(!text.includes(word), `${word} leaked into:\n${text}`);
  },
} as const satisfies Record<string, (context: ClauseContext) => Promise<void>>;

export type Clause = keyof typeof CLAUSES;

/** Declares one test for each clause. A skipped one shows its reason. */
export function testAdapter<Options>(under: AdapterUnderTest<Options>): void {
  const { definition, variant, start, awayIs, onTheWire = ({ bytes }) => bytes, skip = {} } = under;
  const name = variant === undefined ? definition.type : `${definition.type}, ${variant}`;
  for (const [clause, run] of Object.entries(CLAUSES) as [Clause, (context: ClauseContext) => Promise<void>][]) {
    test(`${name}: ${clause}`, async (t) => {
      const reason = skip[clause];
      if (reason !== undefined) return t.skip(reason);
      const far = await start(t);
      const deps = adapterDeps(far.stdout ? { stdout: far.stdout } : {});
      const options = v.parse(definition.options, far.options);
      openSecrets(options, far.secrets);
      const adapter = manageAdapter(definition.create(options, deps), deps.name);
      t.after(() => adapter[Symbol.asyncDispose]());
      const deliver: ClauseContext['deliver'] = async (sample) => {
        const outcomes = await adapter.deliver([sampleDelivery(sample)], never);
        assert.equal(outcomes.length, 1);
        return outcomes[0] as Outcome;
      };
      await run({ adapter, far, deps, awayIs, onTheWire, deliver });
    });
  }
}

/** Gives every secret in parsed options its value, as config/ does. */
export function openSecrets(value: unknown, secrets: Readonly<Record<string, string>>): void {
  if (value instanceof Secret) {
    const { reference } = value;
    if ('env' in reference) value.open(secrets[reference.env] ?? '');
    else value.open(readFileSync(reference.file, 'utf8'), reference.file);
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Object.values(value)) openSecrets(member, secrets);
  }
}

/** The error of a failed delivery. */
export function failed(outcome: Outcome | undefined): BridgeError {
  assert.ok(outcome instanceof BridgeError, `expected a failure, got ${outcome}`);
  return outcome;
}
