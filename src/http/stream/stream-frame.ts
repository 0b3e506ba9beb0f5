// A journalled CloudEvent → its bytes in a stream, made once, and what filters need of it.
import type { JournalledEntry } from '../../model/events.ts';

const END = Buffer.from('\n\n');

/** What filters compare. A CloudEvent of an approval has no Resources. */
interface Judged {
  /** EventType in lower case; null if the CloudEvent is not about a known event. */
  readonly impact: string | null;
  readonly resources: readonly string[];
}

export class StreamFrame {
  readonly position: number;
  readonly change: string;
  /** `id:`, `event:`, `data:` and an empty line. */
  readonly bytes: Buffer;
  readonly #json: Uint8Array;
  #judged: Judged | null = null;

  constructor({ position, change, bytes }: Pick<JournalledEntry, 'position' | 'change' | 'bytes'>) {
    this.position = position;
    this.change = change;
    const head = Buffer.from(`id: ${position}\nevent: ${change}\ndata: `);
    // The JSON has no line ends.
    this.bytes = Buffer.concat([head, bytes, END]);
    this.#json = this.bytes.subarray(head.byteLength, -END.byteLength);
  }

  get judged(): Judged {
    this.#judged ??= judgedOf(this.#json);
    return this.#judged;
  }
}

function judgedOf(bytes: Uint8Array): Judged {
  const { impact = null, data } = JSON.parse(new TextDecoder().decode(bytes)) as {
    readonly impact?: string;
    readonly data?: { readonly resources?: readonly string[] };
  };
  return { impact, resources: data?.resources ?? [] };
}
