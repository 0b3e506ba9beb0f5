// The web's classes → our declarations of them, so that users need neither DOM nor Node types.

/** The global `Request`; any object if there are no types for it. */
export type WebRequest = typeof globalThis extends { Request: { prototype: infer T } } ? T : object;
/** The global `Response`. */
export type WebResponse = typeof globalThis extends { Response: { prototype: infer T } } ? T : object;
/** The global `AbortSignal`. */
export type WebAbortSignal = typeof globalThis extends { AbortSignal: { prototype: infer T } }
  ? T
  : { readonly aborted: boolean };

/** The members of a `node:http` request that the library reads. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** True if the body was read before. */
  readonly readableDidRead?: boolean;
}

/** The members of a `node:http` response that the library uses. */
export interface NodeResponse {
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  end(body?: string): unknown;
}
