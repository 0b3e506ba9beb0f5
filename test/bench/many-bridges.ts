// A count, a port → that many bridges on 127.1.x.y, each with one CloudEvent a second.
// Lines on standard output: `open`, then `probe N MS` at each event that a screen must show first.
import net from 'node:net';
import { wallMs } from './clock.ts';

const [count = '1000', port = '0'] = process.argv.slice(2);
const bridges = Number(count);
/** Turns of the wheel in one second: in each, its share of the bridges publishes one CloudEvent. */
const TURNS = 100;
const LIFE = ['scheduled', 'updated', 'updated', 'started', 'ended'] as const;
/** Every few seconds one Terminate starts, which goes to the top of a screen. */
const PROBE_MS = 3000;

const HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\njournal-position: 0\r\nconnection: close\r\n\r\n:\n\n';
const streams = new Map<number, net.Socket>();
let position = 0;

const server = net.createServer((socket) => {
  socket.on('error', () => socket.destroy());
  // The requests of `top` are short: each arrives in one piece.
  socket.on('data', (bytes) => answer(socket, bytes.toString('latin1')));
});
server.listen({ host: '0.0.0.0', port: Number(port), backlog: 2048 }, () => {
  process.stdout.write(`open ${(server.address() as net.AddressInfo).port}\n`);
});

/** The bridge is known by the address that was called: 127.1.x.y. */
function answer(socket: net.Socket, request: string): void {
  const [, high = '1', low = '0'] = /127\.1\.(\d+)\.(\d+)$/.exec(socket.localAddress ?? '') ?? [];
  const bridge = Number(high) * 250 + Number(low);
  if (request.startsWith('GET /v1/stream')) {
    streams.set(bridge, socket);
    socket.on('close', () => streams.delete(bridge));
    return void socket.write(HEAD);
  }
  const body = JSON.stringify(request.startsWith('GET /v1/events') ? eventsOf(bridge) : restOf(request));
  socket.end(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function restOf(request: string): unknown {
  return request.startsWith('GET /v1/sinks')
    ? []
    : { ready: true, reasons: [], configuration: { since: '2026-01-01T00:00:00Z', refused: null }, sinks: {} };
}

function eventsOf(bridge: number): object {
  const step = steps.get(bridge) ?? 0;
  const isListed = LIFE[step % LIFE.length] !== 'scheduled' && step > 0;
  const vm = { name: `web_${bridge}`, source: '/subscriptions/s/resourcegroups/web' };
  const listed = isListed
    ? [{ ...dataOf(bridge, step - 1), cloudEventId: `${idOf(bridge, step)}:scheduled`, approval: null }]
    : [];
  return {
    ...{ vm, version: '0.1.0', dryRun: false, clock: { offsetSeconds: 0 }, state: 'watching' },
    ...{ documentIncarnation: 2, observedAt: new Date(wallMs()).toISOString(), events: listed },
  };
}

const steps = new Map<number, number>();

function idOf(bridge: number, step: number): string {
  const life = Math.floor(step / LIFE.length);
  return `00000000-0000-4000-8000-${String(bridge).padStart(6, '0')}${String(life).padStart(6, '0')}`;
}

function dataOf(bridge: number, step: number): object {
  const change = LIFE[step % LIFE.length];
  const isScheduled = change === 'scheduled' || change === 'updated';
  return {
    eventId: idOf(bridge, step),
    ...{ eventType: 'Freeze', eventStatus: isScheduled ? 'Scheduled' : 'Started', previousStatus: null },
    ...{ resourceType: 'VirtualMachine', resources: [`web_${bridge}`] },
    notBefore: isScheduled ? new Date(wallMs() + 900_000 - (step % 7) * 1000).toISOString() : null,
    ...{ description: 'Host server is undergoing maintenance.', eventSource: 'Platform', durationInSeconds: 5 },
    observer: { name: `web_${bridge}`, documentIncarnation: 2, affected: true },
  };
}

function publish(socket: net.Socket, change: string, data: object): void {
  position += 1;
  const eventId = (data as { eventId: string }).eventId.toLowerCase();
  const event = {
    ...{ specversion: '1.0', id: `${eventId}:${change}:${position}`, source: '/subscriptions/s/resourcegroups/web' },
    ...{ type: `io.github.scheduled-events-bridge.${change}.v1`, subject: `scheduledevents/${eventId}` },
    ...{ time: new Date(wallMs()).toISOString(), datacontenttype: 'application/json', partitionkey: eventId },
    dataschema: 'https://scheduled-events-bridge.github.io/schemas/change.v1.json',
    ...{ correlationid: eventId, impact: 'freeze', initiator: 'platform', severitynumber: 13, severitytext: 'WARN' },
    traceparent: '00-853e4ac10f3e458cad7e680cb4d5ad22-774207ffa838bd3a-01',
    data: change === 'ended' ? { ...data, outcome: 'completed' } : data,
  };
  socket.write(`id: ${position}\nevent: ${change}\ndata: ${JSON.stringify(event)}\n\n`);
}

let turn = 0;
setInterval(() => {
  turn += 1;
  for (let bridge = turn % TURNS; bridge < bridges; bridge += TURNS) {
    const socket = streams.get(bridge);
    if (socket === undefined) continue;
    // Not all of them are at the same point of their lives.
    const step = steps.get(bridge) ?? Math.floor(bridge / TURNS) % LIFE.length;
    publish(socket, LIFE[step % LIFE.length] ?? '', dataOf(bridge, step));
    steps.set(bridge, step + 1);
  }
}, 1000 / TURNS);

let probe = 0;
setInterval(() => {
  const socket = streams.get(probe % bridges);
  if (streams.size < bridges || socket === undefined) return;
  probe += 1;
  const eventId = `99999999-0000-4000-8000-${String(probe).padStart(12, '0')}`;
  const about = { ...dataOf(0, 3), eventId, eventType: 'Terminate', resources: [`probe-${probe}-end`] };
  publish(socket, 'started', about);
  process.stdout.write(`probe ${probe} ${wallMs()}\n`);
  setTimeout(() => publish(socket, 'ended', about), PROBE_MS - 500);
}, PROBE_MS);
