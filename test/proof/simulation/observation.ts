// What was seen of the bridges from outside, in the order in which it happened.
import { createHash } from 'node:crypto';
import type { Settings } from './history.ts';

type Seen =
  | { readonly kind: 'begun'; readonly run: number; readonly settings: Settings }
  /** The process refused to start, or ended by itself. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'gone'; readonly how: 'kill' | 'stop' | 'stopped' }
  /** The process has the answer to a GET. `text` is null for whatever is no good document; `''` is the empty one. */
  | { readonly kind: 'document'; readonly text: string | null }
  /** A StartRequest left the process. */
  | { readonly kind: 'posted'; readonly post: number; readonly eventIds: readonly string[] }
  /** The service accepted it, whatever the process learns of that. */
  | { readonly kind: 'accepted'; readonly post: number; readonly eventIds: readonly string[] }
  /** The process has the answer. */
  | { readonly kind: 'answered'; readonly post: number; readonly status: number | null }
  | {
      readonly kind: 'arrival';
      readonly sink: string;
      readonly id: string;
      readonly partitionKey: string;
      readonly text: string;
    }
  /** The process was told that these were taken. */
  | { readonly kind: 'receipt'; readonly sink: string; readonly ids: readonly string[] }
  /** The far side refused it for good. */
  | { readonly kind: 'refusal'; readonly sink: string; readonly id: string }
  /** A delivery of an approving sink ended with this yes. */
  | { readonly kind: 'prepared'; readonly sink: string; readonly id: string }
  | {
      readonly kind: 'request';
      readonly request: number;
      readonly as: string;
      readonly act: string;
      readonly event: string;
      readonly seen: string | null;
    }
  | { readonly kind: 'reply'; readonly request: number; readonly status: number | null; readonly body: unknown }
  | { readonly kind: 'told'; readonly act: string; readonly event: string; readonly message: string }
  /** The process has settled this message of the topic: its content is stored. */
  | { readonly kind: 'settled'; readonly message: string }
  | { readonly kind: 'settings'; readonly settings: Settings; readonly outcome: string }
  | { readonly kind: 'disk'; readonly isFull: boolean }
  | { readonly kind: 'commit-failed' }
  | { readonly kind: 'frozen' | 'thawed' }
  | { readonly kind: 'jumped'; readonly byMs: number };

export type Observation = Seen & {
  /** Virtual time since the begin of the history. */
  readonly atMs: number;
  /** By the clock of the machine. */
  readonly wallMs: number;
  readonly machine: number;
};

export type Observed<Kind extends Observation['kind']> = Extract<Observation, { readonly kind: Kind }>;

/** All of one history. */
export class Observations {
  readonly all: Observation[] = [];
  /** When something was seen last that is not the same document again. */
  newsMs = 0;
  readonly #documents = new Map<number, string | null>();
  readonly #hash = createHash('sha256');

  add(observation: Observation): void {
    this.all.push(observation);
    if (this.#isNews(observation)) this.newsMs = observation.atMs;
    this.#hash.update(JSON.stringify(observation));
  }

  #isNews(observation: Observation): boolean {
    if (observation.kind !== 'document') return true;
    const { machine, text } = observation;
    const isSame = this.#documents.get(machine) === text;
    this.#documents.set(machine, text);
    return !isSame;
  }

  /** Of every observation so far, in hexadecimal. Called once, at the end. */
  digest(): string {
    return this.#hash.digest('hex');
  }
}
