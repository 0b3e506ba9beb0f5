// The adapter contract, clause by clause, for azure-monitor and an endpoint on loopback.
import type { TestContext } from 'node:test';
import { CloudEvent } from 'cloudevents';
import { azureMonitorSink } from '../../../adapters/azure-monitor/azure-monitor.ts';
import { toColumns } from '../../../src/log-record/columns.ts';
import { logRecord } from '../../../src/log-record/log-record.ts';
import { DataCollectionEndpoint, type Row } from '../../far-sides/azure-monitor/data-collection-endpoint.ts';
import { FakeEntra } from '../../far-sides/entra-id.ts';
import { VirtualTime } from '../../virtual/virtual-time.ts';
import { type FarSide, testAdapter } from '../contract.ts';
import { httpSinkContract } from '../http-sink-contract.ts';
import type { HttpSink, HttpSinkSetup } from '../http-sink-under-test.ts';
import { receiverSwitches } from '../receiver-switches.ts';
import { optionsFor, startAzureMonitor, TLS } from './start-azure-monitor.ts';

testAdapter({
  definition: azureMonitorSink,
  start,
  awayIs: 'retry',
  onTheWire: ({ bytes }) => Buffer.from(JSON.stringify(toColumns(logRecord(bytes)))),
});

httpSinkContract(
  {
    name: 'azure-monitor',
    start: startSink,
    // The library checks the expiry of tokens by the real clock.
    newTime: () => new VirtualTime({ startMs: Date.now() }),
    rejection: { status: 413, makesRepeats: false },
  },
  {
    'a revoked credential holds the queue, and a new one in its file sends it':
      'its tokens come from Entra ID: see lane.test.ts',
    'the message of a 415 names the option to change': 'its body is always JSON with gzip',
    'a check that gets a web page fails': 'its check posts nothing',
  },
);

async function startSink(t: TestContext, setup: HttpSinkSetup = {}): Promise<HttpSink> {
  const { adapter, deps, deliver, endpoint, entra } = await startAzureMonitor(t, setup);
  if (setup.time) entra.wallMs = setup.time.wallMs;
  return {
    ...{ adapter, deps, deliver, receiver: endpoint.receiver },
    arrivals: () =>
      endpoint.rows.map(({ EventId, dataDescription }) => ({ id: EventId, description: dataDescription })),
    reject: (text) => {
      endpoint.tooLarge = text;
    },
    otherRequests: () => entra.requests.length,
  };
}

async function start(t: TestContext): Promise<FarSide> {
  const entra = await FakeEntra.start(t);
  const endpoint = await DataCollectionEndpoint.start({ tls: TLS });
  t.after(() => endpoint[Symbol.asyncDispose]());
  const { receiver } = endpoint;
  return {
    options: { type: 'azure-monitor', ...optionsFor(''), endpoint: { env: 'DCE_URL' } },
    secrets: { DCE_URL: `${endpoint.url}?key=query-nobody-may-see`, query: 'query-nobody-may-see', token: 'token-1' },
    ...receiverSwitches(receiver),
    arrivals: () => endpoint.rows.map((row) => ({ bytes: Buffer.from(JSON.stringify(row)), event: cloudEventOf(row) })),
    contacts: () => receiver.connections + entra.requests.length,
    accept: () => endpoint.restore(),
    refuse: () => {
      endpoint.restore();
      endpoint.tooLarge = '[';
    },
    overload: () => {
      endpoint.restore();
      endpoint.throttle = 7;
    },
  };
}

const ATTRIBUTES: Readonly<Record<string, string>> = { TimeGenerated: 'time', EventId: 'id', CloudEventType: 'type' };

/** Restores the CloudEvent of a sample, whose data have one level. */
function cloudEventOf({ severity, message, ...row }: Row): CloudEvent<unknown> {
  const data = Object.entries(row).flatMap(([name, value]) => {
    const [, first, rest] = /^data([A-Z])(.*)$/.exec(name) ?? [];
    return first === undefined || rest === undefined ? [] : [[`${first.toLowerCase()}${rest}`, value] as const];
  });
  const attributes = Object.entries(row).filter(([name]) => !/^data[A-Z]/.test(name));
  const named = attributes.map(([name, value]) => [ATTRIBUTES[name] ?? name, value] as const);
  return new CloudEvent<unknown>({ ...Object.fromEntries(named), data: Object.fromEntries(data) }, true);
}
