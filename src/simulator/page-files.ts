// A request for the page → its file as it is on disk now.
import { pageFiles } from '../page/page-files.ts';
import { answerProblem, type SimAnswer } from './answer.ts';

/** The same relative path holds in the source tree and in the bundle, whose chunks are in one folder. */
const FOLDER = new URL('./page/', import.meta.url);

const FILES = pageFiles(FOLDER, ['index.html', 'page.css', 'page.js', 'forms.js', 'lists.js', 'time-line.js', 'text.js', 'icon.svg']);

export function isPagePath(path: string): boolean {
  return path.startsWith('/') && FILES.has(path.slice(1));
}

/**
 * Answers a request for the page or one of its files.
 * @param path the path of the request, without its query
 * @throws a file system error, if the installation is incomplete
 */
export async function answerPage(method: string, path: string): Promise<SimAnswer> {
  const read = isPagePath(path) ? FILES.get(path.slice(1)) : undefined;
  if (read === undefined) return answerProblem({ status: 404, detail: `There is no ${path}.` });
  if (method !== 'GET' && method !== 'HEAD') return answerProblem({ status: 405, detail: `${path} accepts GET.` }, { allow: 'GET, HEAD' });
  return read();
}
