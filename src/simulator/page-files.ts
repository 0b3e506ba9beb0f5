// The path of a request → the file of the simulator's page that belongs there, as it is on the disk at that moment.
import { readFile } from 'node:fs/promises';

export interface PageFile {
  readonly contentType: string;
  /** Names in lower case; without `content-type` and `content-length`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

const SCRIPT = 'text/javascript; charset=utf-8';

/** By path, which is the file's name; nothing else is ever read. */
const CONTENT_TYPES: ReadonlyMap<string, string> = new Map([
  ['/', 'text/html; charset=utf-8'],
  ['/page.css', 'text/css; charset=utf-8'],
  ['/page.js', SCRIPT],
  ['/dom.js', SCRIPT],
  ['/forms.js', SCRIPT],
  ['/lists.js', SCRIPT],
  ['/text.js', SCRIPT],
  ['/time-line.js', SCRIPT],
  ['/icon.svg', 'image/svg+xml; charset=utf-8'],
]);

/** Holds in the source tree and in the bundle, whose chunks lie beside the folder. */
const FOLDER = new URL('./page/', import.meta.url);

/** The page shows what users and recordings wrote, and its buttons steer: it runs its own scripts alone and stands in no frame. */
const HEADERS: PageFile['headers'] = {
  'content-security-policy': "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export function isPagePath(path: string): boolean {
  return CONTENT_TYPES.has(path);
}

/**
 * Reads at each call, so that an edit needs only a reload. Null where the page has no such file.
 * @param path of the request, without its query
 * @throws what the file system says, for an incomplete installation
 */
export async function pageFile(path: string): Promise<PageFile | null> {
  const contentType = CONTENT_TYPES.get(path);
  if (contentType === undefined) return null;
  const name = path === '/' ? 'index.html' : path.slice(1);
  return { contentType, headers: HEADERS, body: await readFile(new URL(name, FOLDER)) };
}
