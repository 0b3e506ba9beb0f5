// CloudEvents → their handlers: each once by source and id, in order for each scheduled event.
import { ConsumerError } from '../consumer-error.ts';
import { type CloudEvent, changeOf, DEFAULT_TYPE_PREFIX } from '../event.ts';
import { withDrill } from '../read-event.ts';
import type { WebAbortSignal } from '../web-types.ts';
import type { HandledStore } from './handled-store.ts';
import { checkHandlers, type Handlers, handlerOf } from './handlers.ts';
import { KeyedQueue } from './keyed-queue.ts';

export interface DispatcherOptions {
  /** Where handled ids are kept; in this process's memory where absent. */
  readonly store?: HandledStore;
  /** `cloudevents.typePrefix` of the bridge, where it is not the default. */
  readonly typePrefix?: string;
}

export interface HandleOptions {
  /** False: the source is not signed, as in binary mode, so repeats are found by id alone. True where absent. */
  readonly isSourceProved?: boolean;
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
  handle(event: CloudEvent, options?: HandleOptions): Promise<Handled>;
  /**
   * As `handle` for each. After a failure, later events of the same scheduled event are left alone. Rejects with the first failure, once all have
   * ended; each failure goes to `failed`.
   */
  handleAll(events: readonly CloudEvent[], failed?: (error: unknown, event: CloudEvent) => void, options?: HandleOptions): Promise<void>;
  /**
   * Takes nothing new, tells the handlers by their signal, and resolves once they have ended; so no handler may wait for it. Again is harmless.
   */
  close(): Promise<void>;
}

export function dispatcherOn(handlers: Handlers, store: HandledStore, typePrefix = DEFAULT_TYPE_PREFIX): Dispatcher {
  checkHandlers(handlers);
  const queue = new KeyedQueue();
  const running = new Map<string, Promise<Handled>>();
  const closing = new AbortController();

  const once = async (event: CloudEvent, keys: readonly string[]): Promise<Handled> => {
    if (closing.signal.aborted) throw new ConsumerError('closed', 'the dispatcher is closed: let the event come again, after a restart');
    const claim = await claimAll(store, keys);
    if (claim === 'handled') return 'repeat';
    if (claim === 'busy') throw new ConsumerError('handled-elsewhere', 'another process is handling this event: let it come again');
    try {
      await handlerOf(handlers, event, typePrefix)?.(event, { signal: closing.signal as WebAbortSignal });
      for (const key of keys) await store.complete(key);
      return 'handled';
    } catch (error) {
      await abandonAll(store, keys);
      throw error;
    }
  };

  const handle = (event: CloudEvent, options: HandleOptions = {}): Promise<Handled> => {
    const keys = keysOf(event, options, typePrefix);
    const first = keys.map((key) => running.get(key)).find((work) => work !== undefined);
    if (first !== undefined) return first.then(() => 'repeat');
    const work = queue.run(orderKeyOf(event), () => once(withDrill(event), keys));
    for (const key of keys) running.set(key, work);
    const forget = () => {
      for (const key of keys) running.delete(key);
    };
    work.then(forget, forget);
    return work;
  };

  return {
    typePrefix,
    handle,
    handleAll: async (events, failed = () => {}, options = {}) => {
      const attempt = async (event: CloudEvent) => {
        try {
          await handle(event, options);
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
      return queue.idle();
    },
  };
}

async function inTurn(events: readonly CloudEvent[], handle: (event: CloudEvent) => Promise<unknown>): Promise<void> {
  for (const event of events) await handle(event);
}

/** All of them or none: where one is handled, those before it are from now on, too; where it is busy, they are free again. */
async function claimAll(store: HandledStore, keys: readonly string[]): ReturnType<HandledStore['claim']> {
  for (const [index, key] of keys.entries()) {
    const claim = await store.claim(key);
    const before = keys.slice(0, index);
    if (claim === 'handled') for (const each of before) await store.complete(each);
    if (claim === 'busy') await abandonAll(store, before);
    if (claim !== 'claimed') return claim;
  }
  return 'claimed';
}

/** What the caller has to tell says more than a store that fails besides. */
async function abandonAll(store: HandledStore, keys: readonly string[]): Promise<void> {
  for (const key of keys) await store.abandon(key).catch(() => {});
}

/** Before the keys of other types; no other key begins so, as a source is not empty. */
const OTHER_TYPES = '  ';

/**
 * Returns the keys in the store of handled ids. A source is a URI reference and so without spaces; nor is it empty. By source and id, too, an
 * event is known to whatever else shares the store. Events of other types have keys apart: the prefix of a type may not be signed, and a copy
 * under another prefix must not count as the bridge's own event.
 */
function keysOf(event: CloudEvent, { isSourceProved = true }: HandleOptions, typePrefix: string): readonly string[] {
  const { source, id } = event;
  const keys = isSourceProved ? [`${source} ${id}`] : [` ${id}`, `${source} ${id}`];
  return changeOf(event, typePrefix) === null ? keys.map((key) => `${OTHER_TYPES}${key}`) : keys;
}

function orderKeyOf({ source, subject, partitionkey, id }: CloudEvent): string {
  return `${source} ${partitionkey ?? subject ?? id}`;
}
