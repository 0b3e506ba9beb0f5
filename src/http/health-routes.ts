// The bridge's state → GET /healthz, /readyz, /drainz and /metrics (behaviour 6.1, 11.20).
import { problem } from './problem.ts';
import { json, type Route, type RouteRequest } from './route.ts';

/** Whether the bridge does its work; the state of a sink does not enter. */
export interface Readiness {
  readonly ready: boolean;
  /** Why not, in plain words; empty when ready. */
  readonly reasons: readonly string[];
  /** More to look at: the sinks and their states. */
  readonly details: object;
}

/** What `GET /drainz` shows. `impact` is in lower case; `notBefore` RFC 3339, null once the event has started. */
export type DrainState =
  | { readonly state: 'serving' }
  | { readonly state: 'draining'; readonly eventId: string; readonly impact: string; readonly notBefore: string | null };

export interface HealthPorts {
  /** Unless `isWhole`, without what names a host or a path or quotes an error. */
  readiness(isWhole: boolean): Readiness;
  /** Null where `http.drain` is not configured. */
  drain(): DrainState | null;
  metrics(): Promise<{ readonly contentType: string; readonly body: string | Uint8Array }>;
}

/** @param mayRead who may see the whole of `/readyz` */
export function healthRoutes(ports: HealthPorts, mayRead: (request: RouteRequest) => Promise<boolean>): readonly Route[] {
  return [
    { method: 'GET', path: '/healthz', handle: () => json(200, { status: 'ok' }) },
    {
      method: 'GET',
      path: '/readyz',
      handle: async (request) => {
        const { ready, reasons, details } = ports.readiness(await mayRead(request));
        return json(ready ? 200 : 503, { ready, reasons, ...details });
      },
    },
    {
      method: 'GET',
      path: '/drainz',
      handle: () => {
        const drain = ports.drain();
        if (drain === null) return problem('not-found', 'http.drain is not configured: this server takes no machine out of a pool.');
        return json(drain.state === 'serving' ? 200 : 503, drain);
      },
    },
    {
      method: 'GET',
      path: '/metrics',
      handle: async () => {
        const { contentType, body } = await ports.metrics();
        return { status: 200, headers: { 'content-type': contentType }, body };
      },
    },
  ];
}
