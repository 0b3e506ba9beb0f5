// CloudEvents from anywhere → their handlers: each event once by source and id, and those of one scheduled event in order.
import { ConsumerError } from './consumer-error.ts';
import { type CloudEvent, DEFAULT_TYPE_PREFIX } from './event.ts';
import type { HandledStore } from './handled-store.ts';
import { checkHandlers, type Handlers, handlerOf } from './handlers.ts';
import { Turns } from './turns.ts';
import type { WebAbortSignal } from './web-types.ts';

export interface DispatcherOptions {
  /** Where handled ids are kept; in this process's memory where absent. */
  readonly store?: HandledStore;
  /** `cloudevents.typePrefix` of the bridge, where it is not the default. */
  readonly typePrefix?: string;
}

/** Whether its handler ran, or had run before. */
export type Handled = 'handled' | 'repeat';

export interface Dispatcher {
  readonly typePrefix: string;
  /**
   * Resolves once the event's handler has ended and its id is stored, so that it may be settled at the broker; a repeat that comes meanwhile
   * shares what becomes of the first. Rejects with what the handler threw: let the event come again then.
   * @throws ConsumerError `handled-elsewhere` while another process is at it, `closed` after `close`
   */
  handle(event: CloudEvent): Promise<Handled>;
  /**
   * As `handle` for each. After a failure, later events of the same scheduled event are left alone. Rejects with the first failure, once all have
   * ended; `failed` is told each.
   */
  handleAll(events: readonly CloudEvent[], failed?: (error: unknown, event: CloudEvent) => void): Promise<void>;
  /**
   * Takes nothing new, tells the handlers by their signal, and resolves once they have ended; so no handler may wait for it. Again is harmless.
   */
  close(): Promise<void>;
}

export function dispatcherOn(handlers: Handlers, store: HandledStore, typePrefix = DEFAULT_TYPE_PREFIX): Dispatcher {
  checkHandlers(handlers);
  const turns = new Turns();
  const running = new Map<string, Promise<Handled>>();
  const closing = new AbortController();

  const once = async (event: CloudEvent): Promise<Handled> => {
    if (closing.signal.aborted) throw new ConsumerError('closed', 'the dispatcher is closed: let the event come again, after a restart');
    const key = keyOf(event);
    const claim = await store.claim(key);
    if (claim === 'handled') return 'repeat';
    if (claim === 'busy') throw new ConsumerError('handled-elsewhere', 'another process is handling this event: let it come again');
    try {
      await handlerOf(handlers, event, typePrefix)?.(event, { signal: closing.signal as WebAbortSignal });
      await store.complete(key);
      return 'handled';
    } catch (error) {
      // What the handler threw says more than a store that fails besides.
      await store.abandon(key).catch(() => {});
      throw error;
    }
  };

  const handle = (event: CloudEvent): Promise<Handled> => {
    const key = keyOf(event);
    const first = running.get(key);
    if (first !== undefined) return first.then(() => 'repeat');
    const work = turns.take(orderKeyOf(event), () => once(event));
    running.set(key, work);
    const forget = () => running.delete(key);
    work.then(forget, forget);
    return work;
  };

  return {
    typePrefix,
    handle,
    handleAll: async (events, failed = () => {}) => {
      const attempt = async (event: CloudEvent) => {
        try {
          await handle(event);
        } catch (error) {
          failed(error, event);
          throw error;
        }
      };
      const groups = Map.groupBy(events, orderKeyOf);
      const results = await Promise.allSettled([...groups.values()].map((group) => inTurn(group, attempt)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
    close: () => {
      closing.abort();
      return turns.idle();
    },
  };
}

async function inTurn(events: readonly CloudEvent[], handle: (event: CloudEvent) => Promise<unknown>): Promise<void> {
  for (const event of events) await handle(event);
}

/** A source is a URI reference and so without spaces. */
function keyOf({ source, id }: CloudEvent): string {
  return `${source} ${id}`;
}

function orderKeyOf({ source, subject, partitionkey, id }: CloudEvent): string {
  return `${source} ${partitionkey ?? subject ?? id}`;
}
