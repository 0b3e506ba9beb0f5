// The adapter contract, clause by clause, for splunk, with and without acknowledgment.
import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { splunk } from '../../../adapters/splunk/splunk.ts';
import { EventCollector } from '../../far-sides/splunk/event-collector.ts';
import { type FarSide, testAdapter } from '../contract.ts';
import { receiverSwitches } from '../receiver-switches.ts';

const TOKEN = 'token-nobody-may-see';

testAdapter({ definition: splunk, start: (t) => startCollector(t, false), awayIs: 'retry' });
testAdapter({ definition: splunk, variant: 'acknowledge', start: (t) => startCollector(t, true), awayIs: 'retry' });
testAdapter({ definition: splunk, variant: 'gzip', start: (t) => startCollector(t, false, { compression: 'gzip' }), awayIs: 'retry' });

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
      collector.work();
    },
    refuse: () => {
      collector.work();
      collector.failsWith = 6;
    },
    overload: () => {
      const busy = { status: 503, headers: { 'retry-after': '7' }, body: '{"text":"Server is busy","code":9}' };
      receiver.default = busy;
    },
  };
}
