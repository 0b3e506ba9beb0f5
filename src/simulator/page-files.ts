// A request for the page → its file as it is on disk now.
import { pageFiles } from '../page/page-files.ts';
import { problem, type SimAnswer } from './answer.ts';

/** Beside this code in the source tree and in the bundle, whose chunks lie flat. */
const FOLDER = new URL('./page/', import.meta.url);

const FILES = pageFiles(FOLDER, ['index.html', 'page.css', 'page.js', 'forms.js', 'lists.js', 'time-line.js', 'text.js', 'icon.svg']);

export function isPagePath(path: string): boolean {
  return path.startsWith('/') && FILES.has(path.slice(1));
}

/**
 * @param path of the request, without its query
 * @throws what the file system says, for an incomplete installation
 */
export async function answerPage(method: string, path: string): Promise<SimAnswer> {
  const read = isPagePath(path) ? FILES.get(path.slice(1)) : undefined;
  if (read === undefined) return problem({ status: 404, detail: `There is no ${path}.` });
  if (method !== 'GET' && method !== 'HEAD') return problem({ status: 405, detail: `${path} takes GET.` }, { allow: 'GET, HEAD' });
  return read();
}
