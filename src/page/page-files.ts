// A page's folder and the shared parts → its files by path, read from disk at each request.
import { readFile } from 'node:fs/promises';

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml; charset=utf-8',
};

/**
 * The files that every page uses, under `parts/`. The relative path holds in the source tree and in the bundle, whose
 * chunks are in one folder.
 */
const PARTS = {
  folder: new URL('./parts/', import.meta.url),
  names: ['base.css', 'dom.js', 'text.js', 'time-line.js'],
};

/**
 * A page shows foreign text and its buttons act, so it runs only its own scripts, connects only to its own server and
 * cannot be framed.
 */
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

/**
 * Returns the files by their path relative to the page; `''` is the page itself. No other file is read, and an edited
 * file needs only a reload.
 */
export function pageFiles(folder: URL, names: readonly string[]): ReadonlyMap<string, () => Promise<PageFile>> {
  const own = names.map((name) => [name === 'index.html' ? '' : name, new URL(name, folder)] as const);
  const parts = PARTS.names.map((name) => [`parts/${name}`, new URL(name, PARTS.folder)] as const);
  return new Map([...own, ...parts].map(([path, url]) => [path, () => read(url)]));
}

/** @throws a file system error, if the installation is incomplete */
async function read(url: URL): Promise<PageFile> {
  const contentType = CONTENT_TYPES[url.pathname.slice(url.pathname.lastIndexOf('.') + 1)] ?? '';
  return { status: 200, headers: { 'content-type': contentType, ...HEADERS }, body: await readFile(url) };
}
