// Approvals over HTTP, a Kafka topic, a Service Bus queue → the same promises kept over each.
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { SimulatedAzure } from '../../../src/simulator.ts';
import { sharedKafka, withoutKafka } from '../../far-sides/kafka/shared-kafka.ts';
import { serviceBusServer } from '../../far-sides/service-bus/service-bus-server.ts';
import { localSimulator } from '../../far-sides/simulator-server.ts';
import { poll } from '../../support/poll.ts';
import { polled } from '../../support/running-bridge.ts';
import { type Channel, HttpChannel, KafkaChannel, type Mode, ServiceBusChannel } from './approval-channels.ts';
import { ChannelBridge } from './channel-bridge.ts';

/** What the three call differently. */
interface Words {
  /** To a yes for an event that is not listed, or no more. */
  readonly unknown: string;
  readonly ended: string;
  /** To a body over 64 KiB. */
  readonly large: string;
  /** Whether nobody else hears of a refusal, so that an approval.failed tells it. */
  readonly tellsRefusals: boolean;
}

/** Over HTTP somebody hears at once that there is no such event; a message may be early, and has time. */
const OVER_HTTP: Words = { unknown: 'unknown', ended: 'ended', large: 'too-large', tellsRefusals: false };
const OVER_BROKER: Words = { unknown: 'waits', ended: 'waits', large: 'bad-request', tellsRefusals: true };

interface Life {
  readonly state: string;
  readonly approvedBy: readonly string[];
  readonly waitingFor: readonly string[];
  readonly holds: readonly { readonly approver: string; readonly reason: string | null }[];
  readonly steps: readonly { readonly step: string; readonly approver: string | null; readonly via: string | null }[];
}

/** A channel, and what can be seen from outside. */
class Fixture {
  readonly azure: SimulatedAzure;
  readonly bridge: ChannelBridge;
  readonly channel: Channel;
  readonly words: Words;

  constructor(azure: SimulatedAzure, { bridge, channel }: { bridge: ChannelBridge; channel: Channel }, words: Words) {
    this.azure = azure;
    this.bridge = bridge;
    this.channel = channel;
    this.words = words;
  }

  /** A new event that the bridge has read. */
  async event(EventType = 'Freeze'): Promise<string> {
    const { EventId } = this.azure.schedule({ EventType, notice: '1h', startedFor: '1h' });
    await poll(() => this.told(EventId).includes('scheduled'), 'an event that is told');
    return EventId;
  }

  /** The EventIds in StartRequests that named it, as they were written. */
  posted(eventId: string): readonly string[] {
    const posts = this.azure.requests().filter(({ method }) => method === 'POST');
    const ids = posts.flatMap(
      ({ body }) => (JSON.parse(body) as { StartRequests: { EventId: string }[] }).StartRequests,
    );
    return ids.map(({ EventId }) => EventId).filter((id) => id.toLowerCase() === eventId.toLowerCase());
  }

  async isPosted(...eventIds: readonly string[]): Promise<void> {
    await poll(() => eventIds.every((id) => this.posted(id).length > 0), 'a StartRequest');
  }

  /** After a while in which it would have been. */
  async isNotPosted(...eventIds: readonly string[]): Promise<void> {
    await polled(this.azure);
    await polled(this.azure);
    for (const id of eventIds) assert.deepEqual(this.posted(id), []);
  }

  /** The approver is told by HTTP itself, and where there is nobody to tell by an approval.failed. */
  async isRefused(eventId: string, reason: string): Promise<void> {
    const told = () => this.told(eventId).includes(`approval.failed ${reason}`);
    if (this.words.tellsRefusals) await poll(told, `an approval.failed, ${reason}`);
    await this.isNotPosted(eventId);
    assert.equal(told(), this.words.tellsRefusals);
  }

  async life(eventId: string): Promise<Life> {
    const { status, body } = await this.bridge.ask('GET', `/v1/approvals/${eventId}`);
    assert.equal(status, 200);
    return body as Life;
  }

  /** The types of the CloudEvents about it, with the reason of those that have one. */
  told(eventId: string): readonly string[] {
    const events = this.bridge.events.filter(({ data }) => data.eventId === eventId);
    return events.map(
      ({ type, data }) => `${type.split('.').slice(3, -1).join('.')}${data.reason ? ` ${data.reason}` : ''}`,
    );
  }

  idOf(eventId: string, change: string): string {
    return (
      this.bridge.events.find(({ type, data }) => type.endsWith(`.${change}.v1`) && data.eventId === eventId)?.id ?? ''
    );
  }
}

const body = (...EventIds: readonly string[]): string =>
  JSON.stringify({ StartRequests: EventIds.map((EventId) => ({ EventId })) });

const swapCase = (text: string): string =>
  text.replace(/[a-z]/gi, (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()));

type Promised = (fixture: Fixture) => Promise<void>;

const PROMISES: Readonly<Record<string, Promised>> = {
  'a yes starts the event, and record and CloudEvents name who gave it and how': async (fixture) => {
    const { channel } = fixture;
    const id = await fixture.event();
    assert.equal(await channel.approve('narrow', body(id)), 'taken');
    await fixture.isPosted(id);
    await poll(() => fixture.told(id).includes('started'), 'the start');
    const { state, approvedBy, steps } = await fixture.life(id);
    assert.deepEqual([state, approvedBy], ['confirmed', ['narrow']]);
    const [recorded] = steps;
    assert.deepEqual(
      [recorded?.step, recorded?.approver, recorded?.via],
      ['recorded', 'narrow', channel.via('narrow')],
    );
    assert.deepEqual(fixture.told(id).slice().sort(), [
      'approval.recorded',
      'approval.submitted',
      'scheduled',
      'started',
    ]);
  },

  'the same yes again, before and after the start, is taken and does nothing': async (fixture) => {
    const id = await fixture.event();
    const said = [await fixture.channel.approve('ops', body(id)), await fixture.channel.approve('ops', body(id))];
    await poll(() => fixture.told(id).includes('started'), 'the start');
    said.push(await fixture.channel.approve('ops', body(id)));
    await polled(fixture.azure);
    assert.deepEqual(said, ['taken', 'taken', 'taken']);
    assert.deepEqual(fixture.posted(id), [id]);
    assert.equal((await fixture.life(id)).steps.filter(({ step }) => step === 'recorded').length, 1);
  },

  'EventIds count without case, and the StartRequest carries the service’s own': async (fixture) => {
    const id = await fixture.event();
    assert.equal(await fixture.channel.approve('ops', body(swapCase(id))), 'taken');
    await fixture.isPosted(id);
    assert.deepEqual(fixture.posted(id), [id]);
  },

  'a yes for an event that nobody lists records nothing; once it is listed, a yes counts': async (fixture) => {
    const EventId = crypto.randomUUID();
    assert.equal(await fixture.channel.approve('ops', body(EventId)), fixture.words.unknown);
    await fixture.isNotPosted(EventId);
    fixture.azure.schedule({ EventId, notice: '1h' });
    await poll(() => fixture.told(EventId).includes('scheduled'), 'the event');
    // A message that waits is this yes already.
    if (fixture.words.unknown !== 'waits') await fixture.channel.approve('ops', body(EventId));
    await fixture.isPosted(EventId);
    assert.deepEqual((await fixture.life(EventId)).approvedBy, ['ops']);
  },

  'a yes for what has started is refused': async (fixture) => {
    const id = await fixture.event();
    fixture.azure.start(id);
    await poll(() => fixture.told(id).includes('started'), 'the start');
    assert.equal(await fixture.channel.approve('ops', body(id)), 'started');
    await fixture.isRefused(id, 'started');
  },

  'a yes outside the scope of its approver is refused': async (fixture) => {
    const id = await fixture.event('Reboot');
    assert.equal(await fixture.channel.approve('narrow', body(id)), 'scope');
    await fixture.isRefused(id, 'scope');
    assert.deepEqual((await fixture.life(id)).approvedBy, []);
  },

  'a yes for what the policy never approves is refused': async (fixture) => {
    const id = await fixture.event('Terminate');
    assert.equal(await fixture.channel.approve('ops', body(id)), 'forbidden');
    await fixture.isRefused(id, 'forbidden');
  },

  'a yes that names the CloudEvent that it saw counts, unless the event has got worse since': async (fixture) => {
    const [same, worse] = [await fixture.event('Freeze'), await fixture.event('Freeze')];
    const seen = (id: string) =>
      JSON.stringify({ StartRequests: [{ EventId: id, Seen: fixture.idOf(id, 'scheduled') }] });
    const [saidOfSame, saidOfWorse] = [seen(same), seen(worse)];
    fixture.azure.change(worse, { EventType: 'Reboot' });
    await poll(() => fixture.told(worse).includes('updated'), 'the change');
    assert.equal(await fixture.channel.approve('ops', saidOfWorse), 'changed');
    assert.equal(await fixture.channel.approve('ops', saidOfSame), 'taken');
    await fixture.isPosted(same);
    await fixture.isRefused(worse, 'changed');
  },

  'a yes that names a CloudEvent that is none of this event is refused': async (fixture) => {
    const [id, other] = [await fixture.event(), await fixture.event()];
    for (const Seen of ['nothing', fixture.idOf(other, 'scheduled')])
      assert.equal(
        await fixture.channel.approve('ops', JSON.stringify({ StartRequests: [{ EventId: id, Seen }] })),
        'seen-unknown',
      );
    await fixture.isRefused(id, 'seen-unknown');
  },

  'where all must agree, one yes waits for the other': async (fixture) => {
    const id = await fixture.event('Redeploy');
    assert.equal(await fixture.channel.approve('ops', body(id)), 'taken');
    await fixture.isNotPosted(id);
    const { state, waitingFor } = await fixture.life(id);
    assert.deepEqual([state, waitingFor], ['waiting', ['second']]);
    assert.equal(await fixture.channel.approve('second', body(id)), 'taken');
    await fixture.isPosted(id);
    assert.deepEqual((await fixture.life(id)).approvedBy, ['ops', 'second']);
  },

  'under a hold a yes is recorded and nothing is posted, until the hold is released': async (fixture) => {
    const { channel } = fixture;
    const id = await fixture.event();
    assert.equal(await channel.hold('second', id, 'the primary is here'), 'taken');
    assert.equal(await channel.approve('ops', body(id)), 'taken');
    await fixture.isNotPosted(id);
    const { state, holds } = await fixture.life(id);
    assert.deepEqual(
      [state, holds.map(({ approver, reason }) => [approver, reason])],
      ['held', [['second', 'the primary is here']]],
    );
    assert.equal(await channel.release('ops', id), 'forbidden');
    assert.equal(await channel.release('second', id), 'taken');
    await fixture.isPosted(id);
  },

  'of several ids all count, or where one is refused none does': async (fixture) => {
    const ids = [await fixture.event(), await fixture.event()];
    const running = await fixture.event();
    fixture.azure.start(running);
    await poll(() => fixture.told(running).includes('started'), 'the start');
    assert.equal(await fixture.channel.approve('ops', body(...ids, running)), 'started');
    await fixture.isNotPosted(...ids);
    for (const id of ids) assert.deepEqual((await fixture.life(id)).steps, []);
    assert.equal(await fixture.channel.approve('ops', body(...ids)), 'taken');
    await fixture.isPosted(...ids);
  },

  'a thousand ids, most of them repeats in odd letter case, start each event once': async (fixture) => {
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.push(await fixture.event());
    const thousand = Array.from({ length: 1000 }, (_, index) => {
      const id = ids[index % ids.length] ?? '';
      return index % 3 === 0 ? swapCase(id) : id;
    });
    assert.equal(await fixture.channel.approve('ops', body(...thousand)), 'taken');
    await fixture.isPosted(...ids);
    for (const id of ids) assert.deepEqual(fixture.posted(id), [id]);
  },

  'a CloudEvent carries a yes as data, as data_base64 and in binary mode': async (fixture) => {
    const cloudEvent = (more: object) =>
      JSON.stringify({ specversion: '1.0', id: '1', source: '/pipeline', type: 'com.example.drained', ...more });
    const ways: readonly (readonly [Mode, (id: string) => string])[] = [
      ['structured', (id) => cloudEvent({ data: JSON.parse(body(id)) })],
      ['structured', (id) => cloudEvent({ data_base64: Buffer.from(body(id)).toString('base64') })],
      ['binary', body],
    ];
    for (const [mode, bodyOf] of ways) {
      const id = await fixture.event();
      assert.equal(await fixture.channel.approve('ops', bodyOf(id), mode), 'taken');
      await fixture.isPosted(id);
    }
  },

  'what is no approval is refused, and what comes after it counts': async (fixture) => {
    const id = await fixture.event();
    const bodies = [
      'yes, please',
      '{}',
      body(),
      '{"StartRequests":[{"EventId":""}]}',
      JSON.stringify([{ EventId: id }]),
    ];
    for (const one of bodies) assert.equal(await fixture.channel.approve('ops', one), 'bad-request', one);
    const empty = JSON.stringify({ specversion: '1.0', id: '1', source: '/pipeline', type: 'com.example.drained' });
    assert.equal(await fixture.channel.approve('ops', empty, 'structured'), 'bad-request');
    assert.equal(
      await fixture.channel.approve(
        'ops',
        JSON.stringify({ StartRequests: [{ EventId: id }], filler: 'x'.repeat(65_536) }),
      ),
      fixture.words.large,
    );
    await fixture.isNotPosted(id);
    assert.equal(await fixture.channel.approve('ops', body(id)), 'taken');
    await fixture.isPosted(id);
  },

  'the same yes over this and over HTTP at once is recorded and posted once': async (fixture) => {
    const id = await fixture.event();
    const http = new HttpChannel(fixture.bridge);
    const said = await Promise.all([fixture.channel.approve('ops', body(id)), http.approve('ops', body(id))]);
    assert.deepEqual(said, ['taken', 'taken']);
    await fixture.isPosted(id);
    await polled(fixture.azure);
    assert.deepEqual(fixture.posted(id), [id]);
    assert.equal((await fixture.life(id)).steps.filter(({ step }) => step === 'recorded').length, 1);
  },

  // The last one: a message that waits does so for a while.
  'a yes for what has ended starts nothing': async (fixture) => {
    const id = await fixture.event();
    fixture.azure.cancel(id);
    await poll(() => fixture.told(id).includes('ended'), 'the end');
    assert.equal(await fixture.channel.approve('ops', body(id)), fixture.words.ended);
    await fixture.isNotPosted(id);
  },
};

async function keeps(t: TestContext, fixture: Fixture): Promise<void> {
  for (const [promise, check] of Object.entries(PROMISES)) await t.test(promise, () => check(fixture));
  // Before its brokers go, as hooks run in the order in which they were made.
  await fixture.bridge.bridge[Symbol.asyncDispose]();
}

test('over HTTP', async (t) => {
  const azure = await localSimulator(t);
  const bridge = await ChannelBridge.start(t, azure);
  await keeps(t, new Fixture(azure, { bridge, channel: new HttpChannel(bridge) }, OVER_HTTP));
});

test('over a Kafka topic', { skip: withoutKafka }, async (t) => {
  const kafka = await sharedKafka(t);
  const azure = await localSimulator(t);
  await keeps(t, new Fixture(azure, await KafkaChannel.open(t, kafka, azure), OVER_BROKER));
});

test('over a Service Bus queue', async (t) => {
  const server = await serviceBusServer(t);
  const azure = await localSimulator(t);
  await keeps(t, new Fixture(azure, await ServiceBusChannel.open(t, server, azure), OVER_BROKER));
});
