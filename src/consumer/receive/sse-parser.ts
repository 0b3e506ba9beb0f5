// Pieces of a text of Server-Sent Events → its events, each with the last position of `id:`.

interface ServerSentEvent {
  /** The last `id:`; null if there was none yet. */
  readonly id: string | null;
  /** Null if the event has only an `id:`. */
  readonly data: string | null;
}

/** Use one for each connection. Lines end with LF, CR or both, as the standard allows. */
export class SseParser {
  readonly #decoder = new TextDecoder();
  #rest = '';
  #id: string | null = null;
  #isNewId = false;
  #data: string[] = [];

  *take(bytes: Uint8Array): Generator<ServerSentEvent> {
    this.#rest += this.#decoder.decode(bytes, { stream: true });
    // A CR at the end may be half of a line end.
    const lines = this.#rest.split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line !== '') this.#read(line);
      else if (this.#data.length > 0 || this.#isNewId) yield this.#end();
    }
  }

  #read(line: string): void {
    const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
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
