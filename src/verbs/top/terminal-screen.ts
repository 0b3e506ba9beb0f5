// Lines → a terminal: only those that changed; at the end it is left as it was found.
import type { VerbContext } from '../verb.ts';

const CSI = '\u001b[';
/** The alternate screen, no cursor, no line breaks at the edge, pasted text marked. */
const ENTER = `${CSI}?1049h${CSI}?25l${CSI}?7l${CSI}?2004h${CSI}2J`;
const LEAVE = `${CSI}?2004l${CSI}?7h${CSI}?25h${CSI}?1049l`;

const NOT_OPEN = () => {};

/** The looks of a line; each also shows without colour. */
export type Look = 'plain' | 'chosen' | 'bold' | 'warning' | 'alarm';

export interface ScreenLine {
  readonly text: string;
  readonly look?: Look;
}

const SGR: Readonly<Record<Look, string>> = { plain: '', chosen: '7', bold: '1', warning: '33', alarm: '1;31' };

/**
 * Sequences of ECMA-48 and xterm that every terminal of today has. The libraries for whole screens bring widgets,
 * layout and terminfo, and megabytes; this is all that `top` needs of them.
 */
export class TerminalScreen implements Disposable {
  readonly #stdin: VerbContext['stdin'];
  readonly #stdout: VerbContext['stdout'];
  readonly #hasColours: boolean;
  #shown: readonly string[] = [];
  #close = NOT_OPEN;
  readonly #restore = () => this[Symbol.dispose]();

  constructor({ stdin, stdout, env }: Pick<VerbContext, 'stdin' | 'stdout' | 'env'>) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    this.#hasColours = !env['NO_COLOR'] && stdout.hasColors();
  }

  get size(): { readonly columns: number; readonly rows: number } {
    // A terminal that does not say its size, such as a serial line, has 0.
    return { columns: this.#stdout.columns || 80, rows: this.#stdout.rows || 24 };
  }

  /** @param onKeys gets each piece of input */
  open(onKeys: (input: string) => void, onResize: () => void): void {
    // After a fault that nothing catches, too.
    process.once('exit', this.#restore);
    this.#close = () => {
      process.off('exit', this.#restore);
      this.#stdin.off('data', onKeys).pause();
      this.#stdout.off('resize', onResize);
    };
    this.#stdin.setRawMode(true);
    this.#stdin.setEncoding('utf8').on('data', onKeys).resume();
    this.#stdout.on('resize', onResize);
    this.#stdout.write(ENTER);
  }

  /** Draws every line again with the next `draw`. */
  clear(): void {
    this.#shown = [];
    this.#stdout.write(`${CSI}2J`);
  }

  /** @param lines at most as many as the terminal has, each at most as wide */
  draw(lines: readonly ScreenLine[]): void {
    const drawn = lines.map((line) => this.#drawn(line));
    const changes = drawn.flatMap((line, row) =>
      line === this.#shown[row] ? [] : [`${CSI}${row + 1};1H${CSI}2K${line}${CSI}0m`],
    );
    if (drawn.length < this.#shown.length) changes.push(`${CSI}${drawn.length + 1};1H${CSI}J`);
    this.#shown = drawn;
    if (changes.length > 0) this.#stdout.write(changes.join(''));
  }

  #drawn({ text, look = 'plain' }: ScreenLine): string {
    return this.#hasColours && look !== 'plain' ? `${CSI}${SGR[look]}m${text}` : text;
  }

  [Symbol.dispose](): void {
    const close = this.#close;
    if (close === NOT_OPEN) return;
    this.#close = NOT_OPEN;
    close();
    this.#stdout.write(LEAVE);
    this.#stdin.setRawMode(false);
  }
}
