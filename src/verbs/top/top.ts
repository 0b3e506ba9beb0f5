// `top`: bridges, by options, a file or Kubernetes → a live screen on a terminal.
import { sleep } from '../../time/clock.ts';
import { BRIDGE_OPTIONS } from '../bridge/bridge-client.ts';
import { EXIT, interrupted, optionText, usageError, type Verb, type VerbContext } from '../verb.ts';
import { Fleet } from './fleet.ts';
import { KeyReader } from './keys.ts';
import { Session } from './session.ts';
import { TerminalScreen } from './terminal-screen.ts';
import { type WatchedAddress, watchedAddresses } from './watched-address.ts';

/** The screen is drawn at most four times a second, and once a second for its clock. */
const DRAW_MS = 250;
const CLOCK_MS = 1000;
/** Drawing takes at most this part of the time. */
const SHARE = 1 / 20;

export const topVerb: Verb = {
  usage: '[--bridge URL]... [--bridges FILE] [--kubernetes SELECTOR] [--token-env NAME]',
  description: `Shows the scheduled events of one or many bridges, the most urgent first, who must still approve them and what happens next;
bridges that do not answer, and sinks in trouble. It follows the streams of the bridges. It needs a terminal.
Keys: j and k or the arrows choose an event; / filters. a approves the chosen event, h holds it, r releases it: each asks first, and
only y does it. e explains the event, t lists all troubles. q and Ctrl-C end it.
Approving, holding and releasing need the token of an approver. Without --bridge, --bridges and --kubernetes it watches
http://127.0.0.1:8700. FILE has one URL a line and, if that bridge has its own token, a blank and the name of its variable.
--kubernetes finds the pods of a label selector, with the service account of the pod or the kubeconfig (KUBECONFIG, ~/.kube/config).
Their container port named https or http is used, otherwise http on port 8700.`,
  options: {
    ...BRIDGE_OPTIONS,
    bridge: { type: 'string', value: 'URL', multiple: true, help: 'the URL of a bridge; may be repeated' },
    bridges: { type: 'string', value: 'FILE', help: 'a file with one URL a line' },
    kubernetes: { type: 'string', value: 'SELECTOR', help: 'the label selector of the pods with bridges' },
    'token-env': { type: 'string', value: 'NAME', help: 'the environment variable that holds the token' },
    'allow-insecure': {
      type: 'boolean',
      help: 'sends the token over http:// beyond loopback, too, although others can read it',
    },
  },
  examples: [
    ['scheduled-events-bridge top', 'the bridge of this machine, to look only'],
    [
      'scheduled-events-bridge top --bridge https://web-0:8700 --bridge https://web-1:8700 --token-env MY_TOKEN',
      'two bridges, as one of their approvers',
    ],
    ['scheduled-events-bridge top --bridges fleet.txt --token-env MY_TOKEN', 'a whole fleet'],
  ],
  async run(context) {
    if (!context.stdin.isTTY || !context.stdout.isTTY)
      throw usageError('top needs a terminal for input and output: use `status --json` or `tail` instead');
    const addresses = watchedAddresses(context);
    const selector = optionText(context, 'kubernetes');
    const pods = selector === undefined ? null : await podFinder(context, selector);
    const found = pods === null ? [] : await pods(context.signal);
    await show(context, [...addresses, ...found], pods === null ? null : { addresses, pods });
    return EXIT.fine;
  },
};

type PodFinder = (signal: AbortSignal) => Promise<readonly WatchedAddress[]>;

async function podFinder(context: VerbContext, selector: string): Promise<PodFinder> {
  const { findPods } = await import('./bridge-pods.ts');
  return findPods(context, selector);
}

interface Found {
  readonly addresses: readonly WatchedAddress[];
  readonly pods: PodFinder;
}

/** Resolves when the operator or a signal ends it. */
async function show(context: VerbContext, addresses: readonly WatchedAddress[], found: Found | null): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([context.signal, stop.signal]);
  const running = { ...context, signal };
  using screen = new TerminalScreen(context);
  const view = new LiveView(running, screen);
  screen.open(
    (input) => {
      if (!view.press(input)) stop.abort();
    },
    () => view.resized(),
  );
  context.stdin.once('end', () => stop.abort());
  try {
    view.fleet.watch(addresses);
    if (found !== null) void followPods(running, view.fleet, found);
    await interrupted(running);
  } finally {
    view.close();
  }
}

/** Pods come and go. While the API server does not answer, the known ones stay. */
const PODS_MS = 30_000;

async function followPods({ deps, signal }: VerbContext, fleet: Fleet, { addresses, pods }: Found): Promise<void> {
  while (!signal.aborted) {
    await sleep(deps, PODS_MS, signal).catch(() => {});
    const found = await pods(signal).catch(() => null);
    if (found !== null && !signal.aborted) fleet.watch([...addresses, ...found]);
  }
}

/** Draws after changes, within limits, and at once after a key. */
class LiveView {
  readonly fleet: Fleet;
  readonly #context: VerbContext;
  readonly #screen: TerminalScreen;
  readonly #session: Session;
  readonly #keys = new KeyReader();
  #cancelDraw = () => {};
  #dueMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;
  #tookMs = 0;

  constructor(context: VerbContext, screen: TerminalScreen) {
    this.#context = context;
    this.#screen = screen;
    const onChange = () => this.#drawBy(this.#lastMs + Math.max(DRAW_MS, this.#tookMs / SHARE));
    this.fleet = new Fleet(context, onChange);
    this.#session = new Session({ fleet: this.fleet, context, onChange });
  }

  /** @returns false to end */
  press(input: string): boolean {
    for (const key of this.#keys.read(input)) {
      if (key === 'ctrl-l') this.#screen.clear();
      else if (!this.#session.press(key)) return false;
    }
    this.#draw();
    return true;
  }

  resized(): void {
    this.#screen.clear();
    this.#draw();
  }

  close(): void {
    this.#cancelDraw();
    this.#dueMs = Number.NEGATIVE_INFINITY;
    this.fleet.close();
  }

  /** @param atMs elapsed milliseconds */
  #drawBy(atMs: number): void {
    if (atMs >= this.#dueMs) return;
    this.#dueMs = atMs;
    this.#cancelDraw();
    this.#cancelDraw = this.#context.deps.after(Math.max(0, atMs - this.#context.deps.elapsedMs()), () => this.#draw());
  }

  #draw(): void {
    const { elapsedMs } = this.#context.deps;
    const startMs = elapsedMs();
    this.#cancelDraw();
    this.#screen.draw(this.#session.draw(this.#screen.size));
    this.#lastMs = elapsedMs();
    this.#tookMs = this.#lastMs - startMs;
    this.#dueMs = Number.POSITIVE_INFINITY;
    this.#drawBy(this.#lastMs + CLOCK_MS);
  }
}
