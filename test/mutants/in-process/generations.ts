// The import of a test file → a fresh copy of it and of each file of the project that it imports.
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { type CollectedTest, takeCollected } from './collect.ts';

const PARAMETER = 'generation';
const COLLECT = new URL('./collect.ts', import.meta.url).href;

let generation = 0;

/** Files below `root`, without node_modules, have one copy for each import by `testsOf`. Their `node:test` is collect.ts. */
export function registerGenerations(root: string): void {
  const project = pathToFileURL(`${root}/`).href;
  registerHooks({
    resolve(specifier, context, next) {
      const of = generationOf(context.parentURL);
      if (of === null) return next(specifier, context);
      if (specifier === 'node:test') return { url: COLLECT, shortCircuit: true };
      const resolved = next(specifier, context);
      if (!resolved.url.startsWith(project) || resolved.url.includes('/node_modules/')) return resolved;
      return { ...resolved, url: withGeneration(resolved.url, of) };
    },
  });
}

/** Returns the tests of a file, loaded again with all that it imports. */
export async function testsOf(path: string): Promise<readonly CollectedTest[]> {
  takeCollected();
  generation += 1;
  await import(withGeneration(pathToFileURL(path).href, String(generation)));
  return takeCollected();
}

function withGeneration(url: string, of: string): string {
  const fresh = new URL(url);
  fresh.searchParams.set(PARAMETER, of);
  return fresh.href;
}

function generationOf(url: string | undefined): string | null {
  return url?.startsWith('file:') ? new URL(url).searchParams.get(PARAMETER) : null;
}
