// The web's classes → our declarations of them, so that neither DOM nor Node types are needed.

/** The global `Request`; any object where there are no types of it. */
export type WebRequest = typeof globalThis extends { Request: { prototype: infer T } } ? T : object;
/** The global `Response`. */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer T } } ? T : object;
/** The global `AbortSignal`. */
export type WebAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer T } } ? T : { readonly aborted: boolean };

/** What `node:http` hands to a listener, as far as it is read here. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Whether somebody has read the body already. */
  readonly readableDidRead?: boolean;
}

/** What `node:http` lets a listener answer with. */
export interface NodeResponse {
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  end(body?: string): unknown;
}
