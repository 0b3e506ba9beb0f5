// Pieces of a text of Server-Sent Events → its events, each with the last position of `id:`.
import { ConsumerError } from '../consumer-error.ts';

/** Characters of one event: several times those of the largest document of the metadata service. */
const LONGEST = 16 * 1024 * 1024;

interface ServerSentEvent {
  /** The last `id:`; null if there was none yet. */
  readonly id: string | null;
  /** Null if the event has only an `id:`. */
  readonly data: string | null;
}

/** Use one for each connection. Lines end with LF, CR or both, as the standard allows. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  /** The line that has no end yet. */
  #line = '';
  /** A CR at the end of a piece, which may be the half of a line end. */
  #half = '';
  /** Characters of the event that has no end yet. */
  #length = 0;
  #id: string | null = null;
  #isNewId = false;
  #data: string[] = [];

  /** @throws ConsumerError `too-large` */
  *take(bytes: Uint8Array): Generator<ServerSentEvent> {
    const text = this.#half + this.#decoder.decode(bytes, { stream: true });
    this.#half = text.endsWith('\r') ? '\r' : '';
    const [first = '', ...others] = text.slice(0, text.length - this.#half.length).split(/\r\n|\n|\r/);
    this.#add(first);
    for (const next of others) {
      const line = this.#line;
      this.#line = '';
      if (line === '') this.#length = 0;
      if (line !== '') this.#read(line);
      else if (this.#data.length > 0 || this.#isNewId) yield this.#end();
      this.#add(next);
    }
  }

  #add(text: string): void {
    this.#line += text;
    this.#length += text.length;
    if (this.#length > LONGEST)
      throw new ConsumerError('too-large', `an event of the stream has more than ${LONGEST} characters`);
  }

  #read(line: string): void {
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') this.#data.push(value);
    if (name !== 'id') return;
    this.#id = value;
    this.#isNewId = true;
  }

  #end(): ServerSentEvent {
    const data = this.#data.length === 0 ? null : this.#data.join('\n');
    this.#data = [];
    this.#isNewId = false;
    return { id: this.#id, data };
  }
}
