// A real run of the bridge, scraped by a real Prometheus → data for every query, and alerts.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CERTIFICATE } from '../far-sides/certificate.ts';
import { Prometheus, promtool, withoutPrometheus } from '../far-sides/prometheus/prometheus.ts';
import { freePorts, localSimulator } from '../far-sides/simulator-server.ts';
import { type Answer, WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import { folderOf } from '../support/folder.ts';
import { poll } from '../support/poll.ts';
import { bridgeFolder, hook, startRun, TOKEN, urlOf } from '../support/running-bridge.ts';
import { smallDisk } from '../support/small-disk.ts';
import { MONITORING, metricsIn, QUERIES, RULES, RULES_FILE } from './shipped-monitoring.ts';

/** Sample metrics, and the alerts that they raise. */
const CASES = ['rules.test.yaml', 'rules-days.test.yaml'];

const options = { skip: withoutPrometheus, timeout: 60_000 };
const NAME = 'ScheduledEventsBridge';

/** What the run below brings about at once; others take a minute and more, and promtool plays those. */
const BROUGHT_ABOUT = [
  'ApprovalDue',
  'ApprovalSourceDown',
  'Away',
  'ConfigurationRefused',
  'DeadLetters',
  'SinkMisconfigured',
  'SinkRetired',
];

/** What such alerts look at is a minute old. */
const slow = {
  skip: process.env['REQUIRE_SLOW_ALERTS']
    ? withoutPrometheus
    : 'it takes a minute: runs where REQUIRE_SLOW_ALERTS is set',
  timeout: 120_000,
};

async function receiver(t: TestContext, answer: Answer): Promise<string> {
  const started = await WebhookReceiver.start();
  t.after(() => started[Symbol.asyncDispose]());
  started.default = answer;
  return started.url;
}

test('promtool accepts the rules, and each alert fires in its cases at the right time', options, () => {
  for (const args of [
    ['check', 'rules', RULES_FILE],
    ['test', 'rules', ...CASES.map((name) => join(MONITORING, name))],
  ]) {
    const { isGood, said } = promtool(...args);
    assert.ok(isGood, said);
  }
});

test('the cases of the rules fail if any of the alerts does not fire', options, (t) => {
  const folder = folderOf(t);
  const rules = readFileSync(RULES_FILE, 'utf8');
  const files = CASES.map((name) => readFileSync(join(MONITORING, name), 'utf8'));
  const casesOf = (name: string, of: string, cases: string) => {
    writeFileSync(join(folder, `${name}.rules.yaml`), of);
    writeFileSync(join(folder, name), cases.replace('rule_files: [', `rule_files: [${name}.`));
    return join(folder, name);
  };
  const silenced = RULES.map(({ alert, expr }) => {
    const cases = files.find((each) => each.includes(alert)) ?? '';
    return casesOf(alert, rules.replace(`expr: '${expr}'`, `expr: '(${expr}) and vector(0) > 1'`), cases);
  });
  const whole = files.map((cases, index) => casesOf(`all-${index}`, rules, cases));
  const { said } = promtool('test', 'rules', ...whole, ...silenced);
  const verdicts = [/^ +SUCCESS$/gm, /^ +FAILED:$/gm].map((verdict) => said.match(verdict)?.length);
  assert.deepEqual(verdicts, [CASES.length, RULES.length], said);
});

test('every query of the dashboard and every alert has data from a real run', options, async (t) => {
  const azure = await localSimulator(t);
  const disk = smallDisk(t, '24m');
  const ca = join(folderOf(t), 'ca.pem');
  writeFileSync(ca, CERTIFICATE);
  const files = bridgeFolder(t, azure.url, {
    store: { path: join('folder' in disk ? disk.folder : folderOf(t), 'store'), maxSize: '16MiB' },
    approvals: {
      approvers: { ops: { token: { env: 'OPS_TOKEN' } } },
      policy: [{ when: { impacts: ['Redeploy'] }, then: 'wait' }],
      sources: {
        queue: {
          ...{ type: 'kafka', topic: 'approvals', approver: 'ops', ssl: { ca } },
          brokers: [`127.0.0.1:${await freePorts()}`],
        },
      },
    },
    sinks: {
      good: hook(await receiver(t, { status: 204 })),
      away: hook(await receiver(t, { status: 503 })),
      locked: hook(await receiver(t, { status: 404 })),
      picky: hook(await receiver(t, { status: 400 })),
      gone: hook(await receiver(t, { status: 410 })),
    },
  });
  const program = await startRun(t, files, { env: { OPS_TOKEN: TOKEN } });
  const url = urlOf(program);
  const nobody = `127.0.0.1:${await freePorts()}`;
  const prometheus = await Prometheus.start(
    t,
    { 'monitoring/scheduled-events-bridge': [new URL(url).host, nobody] },
    RULES_FILE,
  );
  const has = async (expr: string) => (await prometheus.query(expr)).length > 0;
  // An increase shows from the second scrape on.
  await poll(() => has('count_over_time(scheduled_events_bridge_blind[1m]) > 1'), 'two scrapes');

  azure.schedule({ EventType: 'Redeploy', notice: '2m' });
  const approved = azure.schedule({ EventType: 'Reboot', notice: '10m' });
  await poll(() => has('scheduled_events_bridge_events{state="scheduled"} == 2'), 'both events in a scrape');
  const body = JSON.stringify({ StartRequests: [{ EventId: approved.EventId }] });
  const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  assert.equal((await fetch(`${url}/v1/approvals`, { method: 'POST', headers, body })).status, 200);
  writeFileSync(files.config, 'version: 2\n');
  program.child.kill('SIGHUP');

  await t.test('every query of the dashboard', async () => {
    for (const { title, expr, legendFormat } of QUERIES) {
      const asked = expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m');
      await poll(() => has(asked), `data for ${title}: ${asked}`);
      const [first] = await prometheus.query(asked);
      const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
      assert.deepEqual(
        named.filter((label) => first?.labels[label] === undefined),
        [],
        `${title} is named after labels that its series have not: ${JSON.stringify(first)}`,
      );
    }
  });

  await t.test('the alerts of what is wrong, and no others', async () => {
    const active = async () =>
      [...new Set((await prometheus.alerts()).map(({ labels }) => labels['alertname']?.slice(NAME.length)))].sort();
    await poll(async () => (await active()).length === BROUGHT_ABOUT.length, 'the alerts');
    assert.deepEqual(await active(), BROUGHT_ABOUT);
    const alerts = await prometheus.alerts();
    for (const { annotations, labels } of alerts)
      for (const text of Object.values(annotations)) assert.doesNotMatch(text, /<|\{\{|: \.| {2}/, labels['alertname']);
    const sinkOf = (name: string) =>
      alerts.filter(({ labels }) => labels['alertname'] === NAME + name).map(({ labels }) => labels['sink']);
    assert.deepEqual(
      [sinkOf('SinkRetired'), sinkOf('SinkMisconfigured'), sinkOf('DeadLetters')],
      [['gone'], ['locked'], ['picky']],
    );
  });

  await t.test('what the silent alerts look at is there', async () => {
    for (const { alert, expr } of RULES.filter(({ alert: name }) => !BROUGHT_ABOUT.includes(name.slice(NAME.length)))) {
      for (const name of metricsIn(expr)) assert.ok(await has(`scheduled_events_bridge_${name}`), `${alert}: ${name}`);
    }
    assert.ok(await has('scheduled_events_bridge_approval_events{state="failed"} == 0'));
  });

  await t.test(
    'a full disk raises its alert as soon as something must be stored',
    { skip: 'reason' in disk && disk.reason },
    async () => {
      if ('reason' in disk) return;
      disk.fill();
      azure.schedule({ EventType: 'Freeze', Description: 'x'.repeat(20_000) });
      const names = async () => (await prometheus.alerts()).map(({ labels }) => labels['alertname']);
      await poll(async () => (await names()).includes(`${NAME}StoreNotWritable`), 'the alert');
      disk.free();
      await poll(async () => !(await names()).includes(`${NAME}StoreNotWritable`), 'the end of the alert');
    },
  );
});

test('a minute without the metadata service, and with an unavailable sink, fires alerts', slow, async (t) => {
  const azure = await localSimulator(t);
  const sinks = { away: hook(await receiver(t, { status: 503 })), good: hook(await receiver(t, { status: 204 })) };
  const program = await startRun(t, bridgeFolder(t, azure.url, { sinks }));
  const { host } = new URL(urlOf(program));
  const prometheus = await Prometheus.start(t, { 'scheduled-events-bridge': [host] }, RULES_FILE);
  azure.schedule({ EventType: 'Reboot', notice: '10m' });
  await poll(
    async () => (await prometheus.query('scheduled_events_bridge_sink_queue_length == 1')).length === 1,
    'a delivery that waits',
  );
  await poll(async () => (await prometheus.alerts()).length === 0, 'no alerts');
  await azure.close();
  const told = async () =>
    (await prometheus.alerts())
      .map(({ labels: { alertname, sink } }) => `${alertname?.slice(NAME.length)} ${sink}`)
      .sort();
  await poll(async () => (await told()).length >= 2, 'the alerts', 90_000);
  // The CloudEvent of the blindness went to the sink that works.
  assert.deepEqual(await told(), ['Blind undefined', 'Undelivered away']);
});
