// CloudEvents → their handlers: each once by source and id, in order for each scheduled event.
import { ConsumerError } from '../consumer-error.ts';
import { type CloudEvent, changeOf, DEFAULT_TYPE_PREFIX } from '../event.ts';
import { withDrill } from '../read-event.ts';
import type { WebAbortSignal } from '../web-types.ts';
import type { HandledStore } from './handled-store.ts';
import { checkHandlers, type Handlers, handlerOf } from './handlers.ts';
import { KeyedQueue } from './keyed-queue.ts';

export interface DispatcherOptions {
  /** Keeps the handled ids; in this process's memory if absent. */
  readonly store?: HandledStore;
  /** `cloudevents.typePrefix` of the bridge, if it is not the default. */
  readonly typePrefix?: string;
}

/** With its own handlers, or with a dispatcher that it shares with another consumer. */
export type HandledBy =
  | (DispatcherOptions & { readonly handlers: Handlers; readonly dispatcher?: never })
  | { readonly dispatcher: Dispatcher; readonly handlers?: never };

export interface HandleOptions {
  /** False if the source is not signed, as in binary mode: repeats are then found by the id alone. True if absent. */
  readonly isSourceProved?: boolean;
}

/** `handled`: its handler ran. `repeat`: its handler had run before. */
export type Handled = 'handled' | 'repeat';

export interface Dispatcher {
  readonly typePrefix: string;
  /**
   * Resolves once the event's handler has ended and its id is stored. The message can then be settled at the broker. A
   * repeat that comes meanwhile shares the result of the first. Rejects with the handler's error; let the event come
   * again then.
   * @throws ConsumerError `handled-elsewhere` while another process is handling it, `closed` after `close`
   */
  handle(event: CloudEvent, options?: HandleOptions): Promise<Handled>;
  /**
   * Calls `handle` for each. After a failure, later events of the same scheduled event are not handled. Rejects with
   * the first failure once all have ended.
   * @param failed called with each failure
   */
  handleAll(
    events: readonly CloudEvent[],
    failed?: (error: unknown, event: CloudEvent) => void,
    options?: HandleOptions,
  ): Promise<void>;
  /**
   * Accepts no new events, aborts the handlers' signal, and resolves once they have ended. So no handler may wait for
   * it. Safe to repeat.
   */
  close(): Promise<void>;
}

export function dispatcherOn(handlers: Handlers, store: HandledStore, typePrefix = DEFAULT_TYPE_PREFIX): Dispatcher {
  checkHandlers(handlers);
  const calls = new HandlerCalls(handlers, store, typePrefix);
  return {
    typePrefix,
    handle: (event, options) => calls.handle(event, options),
    handleAll: (events, failed, options) => calls.handleAll(events, failed, options),
    close: () => calls.close(),
  };
}

/** Calls the handlers, and keeps track of the events that are being handled. */
class HandlerCalls {
  readonly #handlers: Handlers;
  readonly #store: HandledStore;
  readonly #typePrefix: string;
  readonly #queue = new KeyedQueue();
  /** Calls that have not settled, by the keys of the store. */
  readonly #inProgress = new Map<string, Promise<Handled>>();
  readonly #closing = new AbortController();

  constructor(handlers: Handlers, store: HandledStore, typePrefix: string) {
    this.#handlers = handlers;
    this.#store = store;
    this.#typePrefix = typePrefix;
  }

  handle(event: CloudEvent, options: HandleOptions = {}): Promise<Handled> {
    const keys = keysOf(event, options, this.#typePrefix);
    const first = keys.map((key) => this.#inProgress.get(key)).find((call) => call !== undefined);
    if (first !== undefined) return first.then(() => 'repeat');
    const call = this.#queue.run(orderKeyOf(event), () => this.#handleOnce(withDrill(event), keys));
    this.#track(call, keys);
    return call;
  }

  async handleAll(
    events: readonly CloudEvent[],
    failed: (error: unknown, event: CloudEvent) => void = () => {},
    options: HandleOptions = {},
  ): Promise<void> {
    const handle = async (event: CloudEvent) => {
      try {
        await this.handle(event, options);
      } catch (error) {
        failed(error, event);
        throw error;
      }
    };
    const groups = Map.groupBy(events, orderKeyOf);
    const results = await Promise.allSettled([...groups.values()].map((group) => inTurn(group, handle)));
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  close(): Promise<void> {
    this.#closing.abort();
    return this.#queue.idle();
  }

  async #handleOnce(event: CloudEvent, keys: readonly string[]): Promise<Handled> {
    if (this.#closing.signal.aborted)
      throw new ConsumerError('closed', 'the dispatcher is closed: let the event come again, after a restart');
    const claim = await claimAll(this.#store, keys);
    if (claim === 'handled') return 'repeat';
    if (claim === 'busy')
      throw new ConsumerError('handled-elsewhere', 'another process is handling this event: let it come again');
    try {
      await this.#callHandler(event);
      for (const key of keys) await this.#store.complete(key);
      return 'handled';
    } catch (error) {
      await abandonAll(this.#store, keys);
      throw error;
    }
  }

  async #callHandler(event: CloudEvent): Promise<void> {
    const handler = handlerOf(this.#handlers, event, this.#typePrefix);
    await handler?.(event, { signal: this.#closing.signal as WebAbortSignal });
  }

  /** Keeps the call until it has settled, so that a repeat that comes meanwhile shares its result. */
  #track(call: Promise<Handled>, keys: readonly string[]): void {
    for (const key of keys) this.#inProgress.set(key, call);
    const untrack = () => {
      for (const key of keys) this.#inProgress.delete(key);
    };
    call.then(untrack, untrack);
  }
}

async function inTurn(events: readonly CloudEvent[], handle: (event: CloudEvent) => Promise<unknown>): Promise<void> {
  for (const event of events) await handle(event);
}

/**
 * Claims all keys or none. If one was handled, those before it become handled, too. If one is busy, those before it are
 * given back.
 */
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

/** Ignores failures of the store, because the caller's error is more useful. */
async function abandonAll(store: HandledStore, keys: readonly string[]): Promise<void> {
  for (const key of keys) await store.abandon(key).catch(() => {});
}

/** The prefix of the keys of other types. No other key begins like this, because a source is not empty. */
const OTHER_TYPES = '  ';

/**
 * Returns the keys in the store of handled ids. A source is a URI reference, so it has no spaces and is not empty. The
 * key of source and id is always one of them, for others that share the store. Events of other types have different
 * keys: the prefix of a type may not be signed, and a copy under another prefix must not count as the bridge's event.
 */
function keysOf(event: CloudEvent, { isSourceProved = true }: HandleOptions, typePrefix: string): readonly string[] {
  const { source, id } = event;
  const keys = isSourceProved ? [`${source} ${id}`] : [` ${id}`, `${source} ${id}`];
  return changeOf(event, typePrefix) === null ? keys.map((key) => `${OTHER_TYPES}${key}`) : keys;
}

function orderKeyOf({ source, subject, partitionkey, id }: CloudEvent): string {
  return `${source} ${partitionkey ?? subject ?? id}`;
}
