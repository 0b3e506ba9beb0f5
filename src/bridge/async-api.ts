// The configuration in force → its AsyncAPI document, made once and loaded at the first request.
import type { Config } from '../config/config.ts';

/** Returns a function that resolves with the document of the current configuration, as JSON. All callers share its bytes. */
export function asyncApiOf(current: () => Config): () => Promise<Uint8Array> {
  let made: { readonly config: Config; readonly bytes: Promise<Uint8Array> } | null = null;
  return () => {
    const config = current();
    if (made?.config !== config) {
      const bytes = documentOf(config);
      made = { config, bytes };
      // A failure is not kept.
      bytes.catch(() => {
        if (made?.bytes === bytes) made = null;
      });
    }
    return made.bytes;
  };
}

async function documentOf(config: Config): Promise<Uint8Array> {
  const { asyncApiDocument } = await import('../asyncapi/document.ts');
  return Buffer.from(JSON.stringify(asyncApiDocument(config)));
}
