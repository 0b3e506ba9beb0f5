// GET /v1/stream → CloudEvents as they are committed, without a gap over breaks of the connection.
// Not EventSource, which can send no token.
import { proof } from './bridge.js';

/** Three heart-beats of the bridge. */
const SILENT_MS = 45_000;
const LONGEST_WAIT_MS = 10_000;

/**
 * @param onFrame called with `{ change, event }` of each CloudEvent
 * @param onState called with `{ isLive, isNew, why }`; `isNew`: what came before is not known, so all is to be read anew
 */
export class Stream {
  #handlers;
  #position = null;
  #failures = 0;
  #timer;
  #abort = null;

  constructor(handlers) {
    this.#handlers = handlers;
  }

  start() {
    if (this.#abort) return;
    clearTimeout(this.#timer);
    this.#abort = new AbortController();
    void this.#follow(this.#abort);
  }

  stop() {
    clearTimeout(this.#timer);
    this.#abort?.abort();
    this.#abort = null;
  }

  /** Another reader: from now on. */
  forget() {
    this.stop();
    this.#position = null;
  }

  async #follow(abort) {
    let why = 'The connection ended';
    try {
      const headers = { ...proof(), ...(this.#position === null ? {} : { 'last-event-id': String(this.#position) }) };
      const answer = await fetch('v1/stream', { headers, signal: abort.signal, cache: 'no-store' });
      if (answer.ok) await this.#read(answer, abort);
      else {
        why = (await answer.json()).detail;
        // What came since is not to be had as a stream: it begins anew.
        if (answer.status === 410 || answer.status === 400) this.#position = null;
      }
    } catch {
      why = 'The bridge does not answer';
    }
    if (this.#abort !== abort) return;
    this.#abort = null;
    const waitMs = Math.min(LONGEST_WAIT_MS, 500 * 2 ** this.#failures++);
    this.#handlers.onState({ isLive: false, why });
    this.#timer = setTimeout(() => this.start(), waitMs);
  }

  async #read(answer, abort) {
    const isNew = this.#position === null;
    if (isNew) this.#position = Number(answer.headers.get('journal-position'));
    this.#failures = 0;
    this.#handlers.onState({ isLive: true, isNew });
    let silence = setTimeout(() => abort.abort(), SILENT_MS);
    let rest = '';
    for await (const text of textsOf(answer.body)) {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENT_MS);
      const blocks = (rest + text).split('\n\n');
      rest = blocks.pop();
      for (const block of blocks) this.#take(block);
    }
    clearTimeout(silence);
  }

  #take(block) {
    const fields = Object.fromEntries(
      block.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
    );
    if (fields.id) this.#position = Number(fields.id);
    if (fields.data)
      this.#handlers.onFrame({ position: this.#position, change: fields.event, event: JSON.parse(fields.data) });
  }
}

async function* textsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
