// The current configuration → its AsyncAPI document as JSON, made once for each configuration.
import type { Config } from '../config/config.ts';

/** Returns a function that makes the document at its first call, because few bridges are asked for it. */
export function asyncApiOf(current: () => Config): () => Promise<Uint8Array> {
  let made: { readonly config: Config; readonly bytes: Uint8Array } | null = null;
  return async () => {
    const config = current();
    if (made?.config !== config) {
      const { asyncApiDocument } = await import('../asyncapi/document.ts');
      made = { config, bytes: Buffer.from(JSON.stringify(asyncApiDocument(config))) };
    }
    return made.bytes;
  };
}
