// A request for the page → its file as it is on disk now.
import { readFile } from 'node:fs/promises';
import { problem, type SimAnswer } from './answer.ts';

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
const HEADERS: SimAnswer['headers'] = {
  'content-security-policy': "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

export function isPagePath(path: string): boolean {
  return CONTENT_TYPES.has(path);
}

/**
 * Reads at each call, so that an edit needs only a reload.
 * @param path of the request, without its query
 * @throws what the file system says, for an incomplete installation
 */
export async function answerPage(method: string, path: string): Promise<SimAnswer> {
  const contentType = CONTENT_TYPES.get(path);
  if (contentType === undefined) return problem({ status: 404, detail: `There is no ${path}.` });
  if (method !== 'GET' && method !== 'HEAD') return problem({ status: 405, detail: `${path} takes GET.` }, { allow: 'GET, HEAD' });
  const name = path === '/' ? 'index.html' : path.slice(1);
  return { status: 200, headers: { 'content-type': contentType, ...HEADERS }, body: await readFile(new URL(name, FOLDER)) };
}
