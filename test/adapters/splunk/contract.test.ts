// The adapter contract, clause by clause, for splunk, with and without acknowledgment.
import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { splunkSink } from '../../../adapters/splunk/splunk.ts';
import { EventCollector } from '../../far-sides/splunk/event-collector.ts';
import { type FarSide, testAdapter } from '../contract.ts';
import { httpSinkContract } from '../http-sink-contract.ts';
import type { HttpSink, HttpSinkSetup } from '../http-sink-under-test.ts';
import { receiverSwitches } from '../receiver-switches.ts';
import { startSplunk, TOKEN } from './start-splunk.ts';

testAdapter({ definition: splunkSink, start: (t) => startCollector(t, false), awayIs: 'retry' });
testAdapter({ definition: splunkSink, variant: 'acknowledge', start: (t) => startCollector(t, true), awayIs: 'retry' });
testAdapter({
  definition: splunkSink,
  variant: 'gzip',
  start: (t) => startCollector(t, false, { compression: 'gzip' }),
  awayIs: 'retry',
});

httpSinkContract({
  name: 'splunk',
  start: startSink,
  rejection: { status: 6, makesRepeats: true },
  credential: {
    options: (file) => ({ token: { file } }),
    value: TOKEN,
    reason: /code 4 \(invalid token\).*check token/,
  },
  unsupportedBody: { options: { compression: 'gzip' }, advice: /answered 415: .*set compression: none/ },
});

async function startSink(t: TestContext, setup?: HttpSinkSetup): Promise<HttpSink> {
  const { adapter, deps, deliver, collector } = await startSplunk(t, setup);
  const { receiver } = collector;
  return {
    ...{ adapter, deps, deliver, receiver },
    arrivals: () =>
      collector.events.map(({ event }) => {
        const { id, data } = event as { readonly id: string; readonly data: { readonly description: string } };
        return { id, description: data.description };
      }),
    reject: (text) => {
      collector.badText = text;
    },
    renewCredential: () => {
      collector.tokens.delete(TOKEN);
      collector.tokens.set('renewed', {});
    },
  };
}

async function startCollector(t: TestContext, acknowledge: boolean, more: object = {}): Promise<FarSide> {
  const collector = await EventCollector.start({ [TOKEN]: { acknowledges: acknowledge } });
  t.after(() => collector[Symbol.asyncDispose]());
  const { receiver } = collector;
  return {
    options: {
      type: 'splunk',
      url: { env: 'HEC_URL' },
      token: { env: 'HEC_TOKEN' },
      acknowledge,
      allowInsecure: true,
      allowPrivate: ['127.0.0.0/8'],
      ...more,
    },
    secrets: {
      HEC_URL: `${collector.url}/services/collector/event?key=query-nobody-may-see`,
      HEC_TOKEN: TOKEN,
      query: 'query-nobody-may-see',
    },
    ...receiverSwitches(receiver),
    arrivals: () =>
      collector.events.map(({ event, eventBytes }) => ({
        bytes: eventBytes,
        event: new CloudEvent(event as Record<string, unknown>, true),
      })),
    accept: () => {
      collector.failsWith = null;
      collector.restore();
    },
    refuse: () => {
      collector.restore();
      collector.failsWith = 6;
    },
    overload: () => {
      const busy = { status: 503, headers: { 'retry-after': '7' }, body: '{"text":"Server is busy","code":9}' };
      receiver.default = busy;
    },
  };
}
