// A page's relative links → absolute ones where they lead out of its package.
import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import packageJson from '../../package.json' with { type: 'json' };

interface PagePlace {
  /** The page's path inside the package. */
  readonly page: string;
  /** The package's folder. */
  readonly folder: string;
  /** The folder of the checkout that the package's folder was copied from. */
  readonly source: string;
}

/** Returns the page with links to the project's site for what the package does not have. */
export function withAbsoluteLinks(text: string, { page, folder, source }: PagePlace): string {
  return text.replaceAll(
    /(\]\()([^)\s:#]+)((?:#[^)\s]*)?\))/g,
    (link, before: string, target: string, after: string) =>
      existsSync(join(folder, dirname(page), target))
        ? link
        : `${before}${packageJson.homepage}/blob/main/${normalize(join(source, dirname(page), target))}${after}`,
  );
}
