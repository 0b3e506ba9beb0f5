// An address → a simulator that listens there on HTTP, with its delays, resets and cut-off answers on real sockets.
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { BridgeError, messageOf } from '../errors.ts';
import { isLoopback } from '../private-addresses.ts';
import type { Deps } from '../time.ts';
import { problem, type SimAnswer, type SimRequest } from './answer.ts';
import { listScenarios } from './scenarios.ts';
import { Simulator } from './simulator.ts';

export interface SimulatorServerOptions {
  /** Port 0 takes a free one. */
  readonly listen: { readonly host: string; readonly port: number };
  readonly vmName?: string;
  /** Simulated seconds a second; 1 by default. */
  readonly speed?: number;
  /** Played from the start; empty without one. */
  readonly scenario?: string;
  readonly deps: Pick<Deps, 'wallMs' | 'elapsedMs' | 'random' | 'after'>;
  readonly logger?: Logger;
}

export interface SimulatorServer extends AsyncDisposable {
  /** `http://HOST:PORT`, to be used as `metadata.endpoint`. */
  readonly url: string;
  readonly simulator: Simulator;
}

const LONGEST_BODY = 1024 * 1024;
/** Above the longest poll interval, so that a poll never meets a connection that is just being closed. */
const KEEP_ALIVE_MS = 65_000;

/** Listens. @throws BridgeError BRIDGE_USAGE for an unknown scenario, BRIDGE_SIMULATOR_LISTEN where the address cannot be had. */
export async function startSimulator(options: SimulatorServerOptions): Promise<SimulatorServer> {
  const { listen, vmName, speed, scenario, deps, logger } = options;
  const simulator = new Simulator({ deps, ...(vmName === undefined ? {} : { vmName }), ...(speed === undefined ? {} : { speed }) });
  if (scenario !== undefined) startScenario(simulator, scenario);
  const http = process.getBuiltinModule('node:http');
  const pending = new Set<() => void>();
  const server = http.createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    readBody(request).then(
      (body) => {
        const answer = body ? simulator.handle(toSimRequest(request, body)) : tooLarge();
        later(answer.delayMs, deps, pending, () => send(response, answer));
      },
      // The client went away before its request was complete: there is nobody to answer.
      () => response.destroy(),
    );
  });
  await listening(server, listen);
  const url = urlOf(server.address() as AddressInfo);
  if (!isLoopback(listen.host)) logger?.warn({ url }, 'the simulator listens beyond loopback: whoever reaches this port can steer it');
  return { url, simulator, [Symbol.asyncDispose]: () => close(server, pending) };
}

function startScenario(simulator: Simulator, name: string): void {
  if (simulator.group.scenarios.start(name, simulator.group.catchUp())) return;
  const known = listScenarios().map((scenario) => scenario.name);
  throw new BridgeError('BRIDGE_USAGE', `there is no scenario "${name}"; there is ${known.join(', ')}`);
}

function listening(server: Server, { host, port }: SimulatorServerOptions['listen']): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) => {
      const message = `the simulator cannot listen on ${host}:${port} (${messageOf(cause)}); free the port or choose another with --listen`;
      reject(new BridgeError('BRIDGE_SIMULATOR_LISTEN', message, { cause }));
    });
    server.listen(port, host, resolve);
  });
}

function urlOf({ address, family, port }: AddressInfo): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}

/** Null where it is larger than allowed. It is read to its end even so, or the client would not get to read the refusal. */
async function readBody(request: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length <= LONGEST_BODY) chunks.push(chunk);
  }
  return length <= LONGEST_BODY ? Buffer.concat(chunks) : null;
}

function toSimRequest(request: IncomingMessage, body: Uint8Array): SimRequest {
  const headers = Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]);
  return { method: request.method ?? '', url: request.url ?? '', headers: Object.fromEntries(headers), body };
}

function tooLarge(): SimAnswer {
  return problem({ status: 413, detail: `A body may have at most ${LONGEST_BODY} bytes.` });
}

function later(delayMs: number | undefined, deps: Pick<Deps, 'after'>, pending: Set<() => void>, run: () => void): void {
  if (delayMs === undefined) {
    run();
    return;
  }
  const cancel = deps.after(delayMs, () => {
    pending.delete(cancel);
    run();
  });
  pending.add(cancel);
}

function send(response: ServerResponse, answer: SimAnswer): void {
  if (answer.reset) {
    response.socket?.resetAndDestroy();
    return;
  }
  try {
    write(response, answer);
  } catch {
    // Headers that a user ordered and that Node cannot send, such as a Trailer: to the client it is one more fault.
    response.destroy();
  }
}

function write(response: ServerResponse, { status, headers, body, truncate }: SimAnswer): void {
  const length: Record<string, number> = status === 204 || status === 304 ? {} : { 'content-length': body.length };
  response.writeHead(status, { ...length, ...headers });
  if (truncate === undefined || truncate >= body.length) {
    response.end(body);
    return;
  }
  response.flushHeaders();
  if (truncate > 0) response.write(body.subarray(0, truncate));
  response.socket?.destroySoon();
}

async function close(server: Server, pending: Set<() => void>): Promise<void> {
  for (const cancel of pending) cancel();
  pending.clear();
  if (!server.listening) return;
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
