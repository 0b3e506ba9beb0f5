// What a bridge knew before documents of this moment → what it may still act by.
import type { ApprovalCase } from './approval-case.ts';
import type { ReadDocument } from './listed-event.ts';

/** One state in which a bridge may decide about StartRequests. */
export interface View {
  readonly document: { readonly read: ReadDocument; readonly atMs: number } | null;
  readonly cases: ReadonlyMap<string, ApprovalCase>;
}

/**
 * The oracle sees a document when the answer reaches the process. The bridge handles it a little later, in the same
 * moment. This matters twice: when a machine thaws, because all that fell due meanwhile runs at once; and when two
 * documents arrive in one moment, because the first one may approve what the second one does not list.
 */
export class EarlierViews {
  #views: View[] = [];
  #atMs = Number.NEGATIVE_INFINITY;
  #thawedMs = Number.NEGATIVE_INFINITY;

  thawed(atMs: number): void {
    this.#thawedMs = atMs;
  }

  /** Another process handles its own documents alone. */
  forget(): void {
    this.#views = [];
  }

  /** To be called before a document changes this view. */
  keep({ document, cases }: View, atMs: number): void {
    if (atMs !== this.#atMs) this.#views = [];
    this.#atMs = atMs;
    if (atMs !== this.#thawedMs && document?.atMs !== atMs) return;
    this.#views.push({ document, cases: new Map([...cases].map(([key, one]) => [key, one.copy()])) });
  }

  /** Those that the bridge may still have in this moment, without the newest one. */
  at(atMs: number): readonly View[] {
    return atMs === this.#atMs ? this.#views : [];
  }
}
