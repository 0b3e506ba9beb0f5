// A page's folder and the shared parts → its files by path, as they are on disk now.
import { readFile } from 'node:fs/promises';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

/** What every page uses, under `parts/`. The folder is beside this code in the source tree and in the bundle, whose chunks lie flat. */
const PARTS = { folder: new URL('./parts/', import.meta.url), names: ['base.css', 'dom.js', 'text.js', 'time-line.js'] };

/** A page shows what others wrote, and its buttons act: it runs its own scripts alone, asks its own server alone and stands in no frame. */
const HEADERS = {
  'content-security-policy': [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
};

interface PageFile {
  readonly status: 200;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** By path, relative to the page; `''` is the page itself. Nothing else is ever read, and an edit needs only a reload. */
export function pageFiles(folder: URL, names: readonly string[]): ReadonlyMap<string, () => Promise<PageFile>> {
  const own = names.map((name) => [name === 'index.html' ? '' : name, new URL(name, folder)] as const);
  const parts = PARTS.names.map((name) => [`parts/${name}`, new URL(name, PARTS.folder)] as const);
  return new Map([...own, ...parts].map(([path, url]) => [path, () => read(url)]));
}

/** @throws what the file system says, for an incomplete installation */
async function read(url: URL): Promise<PageFile> {
  const contentType = CONTENT_TYPES[url.pathname.slice(url.pathname.lastIndexOf('.') + 1)] ?? '';
  return { status: 200, headers: { 'content-type': contentType, ...HEADERS }, body: await readFile(url) };
}
