// Keys and the fleet → the choice, the question and the acts of one operator.
import type { VerbContext } from '../verb.ts';
import { approve, hold, release, storyOf } from './acts.ts';
import { Choice } from './choice.ts';
import type { Fleet } from './fleet.ts';
import type { FleetEvent } from './fleet-event.ts';
import type { Key } from './keys.ts';
import { isSameContent } from './listed-event.ts';
import { approvalObstacle, approvalQuestion, explanation, holdQuestion, releaseQuestion } from './questions.ts';
import { drawn, type Panel, type ScreenView } from './screen.ts';
import type { ScreenLine } from './terminal-screen.ts';
import { troubles } from './troubles.ts';
import { eventWords } from './words.ts';

const DETAILS: Panel = { kind: 'details' };
const LONGEST_REASON = 1000;
const LONGEST_FILTER = 100;

/** What a typed line or a `y` leads to. */
type Pending =
  | { readonly kind: 'none' }
  | { readonly kind: 'filter' }
  | { readonly kind: 'reason'; readonly asked: FleetEvent }
  | { readonly kind: 'act'; readonly asked: FleetEvent; readonly run: () => Promise<string> };

interface SessionParts {
  readonly fleet: Fleet;
  readonly context: Pick<VerbContext, 'deps' | 'signal'>;
  readonly onChange: () => void;
}

export class Session {
  readonly #parts: SessionParts;
  readonly #choice = new Choice();
  #panel: Panel = DETAILS;
  #pending: Pending = { kind: 'none' };
  #message = '';
  #top = 0;
  #listed = 1;
  /** Whether the question has been drawn: a `y` that was typed before does not answer it. */
  #isAsked = false;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** Returns the lines of the screen as of now. */
  draw(size: { readonly columns: number; readonly rows: number }): readonly ScreenLine[] {
    const { fleet } = this.#parts;
    this.#choice.update(fleet.events());
    const chosen = this.#choice.place;
    const { lines, top, listed } = drawn({ ...this.#view(), ...size, chosen });
    [this.#top, this.#listed, this.#isAsked] = [top, listed, this.#panel.kind === 'question'];
    const visible = this.#choice.events.slice(top, top + listed).flatMap(({ bridges }) => bridges);
    fleet.show(visible.slice(0, 200));
    return lines;
  }

  /** @returns false to end */
  press(key: Key): boolean {
    if (key === 'ctrl-c') return false;
    if (this.#panel.kind === 'typing') this.#type(this.#panel, key);
    else if (this.#panel.kind === 'question') this.#answer(key);
    else if (this.#panel.kind === 'page') this.#turn(this.#panel, key);
    else return this.#command(key);
    return true;
  }

  #view(): Omit<ScreenView, 'columns' | 'rows' | 'chosen'> {
    const { deps } = this.#parts.context;
    return {
      ...{ wallMs: deps.wallMs(), elapsedMs: deps.elapsedMs(), bridges: this.#parts.fleet.bridges },
      ...{ events: this.#choice.events, total: this.#choice.total, filter: this.#choice.filter, top: this.#top },
      ...{ panel: this.#panel, message: this.#message },
    };
  }

  #command(key: Key): boolean {
    this.#message = '';
    if (typeof key === 'string') {
      this.#choice.move(key, this.#listed);
      if (key === 'escape') this.#choice.filter = '';
      return true;
    }
    if (key.text === 'q') return false;
    const act = this.#commands[key.text];
    act?.();
    return true;
  }

  readonly #commands: Readonly<Record<string, () => void>> = {
    j: () => this.#choice.move('down', this.#listed),
    k: () => this.#choice.move('up', this.#listed),
    g: () => this.#choice.move('home', this.#listed),
    G: () => this.#choice.move('end', this.#listed),
    '/': () => {
      this.#pending = { kind: 'filter' };
      this.#panel = {
        kind: 'typing',
        label: 'filter (words; Enter keeps it, Esc shows all)',
        text: this.#choice.filter,
      };
    },
    t: () => {
      const { deps } = this.#parts.context;
      const text = troubles(this.#parts.fleet.bridges, deps.elapsedMs());
      this.#panel = { kind: 'page', title: 'IN TROUBLE', text: text.length === 0 ? ['nothing'] : text, top: 0 };
    },
    a: () => this.#askToApprove(),
    h: () => this.#askForReason(),
    r: () => this.#askToRelease(),
    e: () => void this.#explain(),
  };

  #askToApprove(): void {
    const asked = this.#choice.event;
    if (asked === null) return;
    const obstacle = approvalObstacle(asked);
    if (obstacle !== null) {
      this.#message = obstacle;
      return;
    }
    this.#ask(asked, approvalQuestion(asked), () => approve(this.#parts.context, asked));
  }

  #askForReason(): void {
    const asked = this.#choice.event;
    if (asked === null) return;
    this.#pending = { kind: 'reason', asked };
    this.#panel = { kind: 'typing', label: 'reason of the hold (Enter goes on, Esc stops)', text: '' };
  }

  #askToHold(asked: FleetEvent, reason: string): void {
    this.#ask(asked, holdQuestion(asked, reason), () => hold(this.#parts.context, asked, reason));
  }

  #askToRelease(): void {
    const asked = this.#choice.event;
    if (asked === null) return;
    const words = releaseQuestion(asked);
    if (words === null) this.#message = 'no hold stands on this event';
    else this.#ask(asked, words, () => release(this.#parts.context, asked));
  }

  #ask(asked: FleetEvent, words: string, run: () => Promise<string>): void {
    this.#pending = { kind: 'act', asked, run };
    const event = eventWords(asked, this.#parts.context.deps.wallMs());
    this.#panel = { kind: 'question', text: [words, event, 'y does it; any other key does not'] };
    this.#isAsked = false;
  }

  #answer(key: Key): void {
    const pending = this.#pending;
    if (!this.#isAsked) return;
    this.#backToList();
    if (pending.kind !== 'act') return;
    if (typeof key === 'string' || key.text !== 'y') {
      this.#message = 'nothing was done';
      return;
    }
    const now = this.#parts.fleet.events().find(({ event }) => event.key === pending.asked.event.key);
    if (now === undefined || !isSameContent(now.event, pending.asked.event)) {
      this.#message = 'nothing was done: the event has changed meanwhile; look at it again';
      return;
    }
    void this.#run(pending.asked, pending.run);
  }

  async #run({ bridges }: FleetEvent, run: () => Promise<string>): Promise<void> {
    this.#message = 'sent; waiting for the answer …';
    this.#parts.onChange();
    this.#message = await run();
    for (const bridge of bridges) bridge.staleness = 'changed';
    this.#parts.onChange();
  }

  async #explain(): Promise<void> {
    const asked = this.#choice.event;
    if (asked === null) return;
    const facts = explanation(asked, this.#parts.context.deps.wallMs());
    const page = (story: readonly string[]): Panel => ({
      ...{ kind: 'page', title: `EventId ${asked.event.eventId}`, top: 0 },
      text: [...facts, ...story],
    });
    const waiting = page(['reading …']);
    this.#panel = waiting;
    const story = await storyOf(this.#parts.context, asked);
    if (this.#panel === waiting) this.#panel = page(story);
    this.#parts.onChange();
  }

  #type(panel: Extract<Panel, { kind: 'typing' }>, key: Key): void {
    const pending = this.#pending;
    if (key === 'escape' || key === 'enter') {
      this.#backToList();
      if (pending.kind === 'filter') this.#choice.filter = key === 'enter' ? panel.text.trim() : '';
      else if (pending.kind === 'reason' && key === 'enter') this.#reasonGiven(pending.asked, panel.text.trim());
      return;
    }
    const longest = pending.kind === 'filter' ? LONGEST_FILTER : LONGEST_REASON;
    const text = typed(panel.text, key).slice(0, longest);
    this.#panel = { ...panel, text };
    if (pending.kind === 'filter') this.#choice.filter = text.trim();
  }

  #reasonGiven(asked: FleetEvent, reason: string): void {
    if (reason === '') this.#message = 'nothing was done: a hold needs a reason';
    else this.#askToHold(asked, reason);
  }

  #turn(panel: Extract<Panel, { kind: 'page' }>, key: Key): void {
    const down = key === 'down' || (typeof key === 'object' && key.text === 'j');
    const up = key === 'up' || (typeof key === 'object' && key.text === 'k');
    const step = down ? 1 : up ? -1 : key === 'page-down' ? 10 : key === 'page-up' ? -10 : null;
    if (step === null) this.#backToList();
    else this.#panel = { ...panel, top: Math.max(0, panel.top + step) };
  }

  #backToList(): void {
    [this.#panel, this.#pending, this.#message] = [DETAILS, { kind: 'none' }, ''];
  }
}

function typed(text: string, key: Key): string {
  if (key === 'backspace') return [...text].slice(0, -1).join('');
  return typeof key === 'object' ? `${text}${key.text}` : text;
}
