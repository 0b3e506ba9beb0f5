// http.console → GET / and the files of its page, which hold no data (behaviour 11.22).
import { pageFiles } from '../page/page-files.ts';
import type { Callers } from './callers.ts';
import type { Route } from './route.ts';

/** In the same folder as this file, in the source tree and in the bundle. */
const FOLDER = new URL('./console/', import.meta.url);

const NAMES = [
  'acts.js',
  'bridge.js',
  'configuration.js',
  'console.css',
  'console.js',
  'dialogs.js',
  'drill.js',
  'event-item.js',
  'events.js',
  'hold-all.js',
  'icon.svg',
];
const FILES = pageFiles(FOLDER, [
  'index.html',
  ...NAMES,
  'lanes.js',
  'letters.js',
  'lives.js',
  'sign-in.js',
  'sinks.js',
  'story.js',
  'stream.js',
  'words.js',
]);

/** @param isOn called for each request: a reload may switch the page on or off */
export function consoleRoutes(isOn: () => boolean, callers: Pick<Callers, 'refuseHost'>): readonly Route[] {
  return [...FILES].map(([path, read]) => ({
    method: 'GET',
    path: path === '' ? '/' : `/console/${path}`,
    isOn,
    handle: async (request) => callers.refuseHost(request) ?? (await read()),
  }));
}
