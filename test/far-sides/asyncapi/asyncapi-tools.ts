// AsyncAPI's parser and Modelina, installed into a cache → faults of a document, and its models.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** 190 MB: too much for everybody who changes the project. */
const TOOLS = ['@asyncapi/parser@3.6.3', '@asyncapi/modelina@5.10.1'];
const FOLDER = join(import.meta.dirname, '../../../node_modules/.cache/asyncapi-3.6.3-5.10.1');

/** For the `skip` of a test: false, or the reason. With REQUIRE_ASYNCAPI, the tools are installed. */
export function noAsyncApiTools(): string | false {
  if (existsSync(FOLDER) || process.env['REQUIRE_ASYNCAPI']) return false;
  return 'the parser and Modelina take 190 MB: set REQUIRE_ASYNCAPI=1 to install them';
}

interface Diagnostic {
  readonly code: string | number;
  readonly message: string;
}

/** A class of the tools: its members are called as their documentation says. */
type Tool = new (
  options?: object,
) => {
  parse(text: string): Promise<{ readonly document: unknown; readonly diagnostics: readonly Diagnostic[] }>;
  generateToFiles(
    document: unknown,
    folder: string,
    options: object,
    failOnReserved: boolean,
  ): Promise<readonly { readonly modelName: string }[]>;
};

interface Tools {
  readonly Parser: Tool;
  readonly modelina: Readonly<Record<string, Tool>>;
}

async function tools(): Promise<Tools> {
  if (!existsSync(FOLDER)) await install();
  const load = createRequire(join(FOLDER, 'package.json'));
  return {
    Parser: (load('@asyncapi/parser') as { Parser: Tool }).Parser,
    modelina: load('@asyncapi/modelina') as Tools['modelina'],
  };
}

async function install(): Promise<void> {
  await mkdir(join(FOLDER, '..'), { recursive: true });
  const unfinished = await mkdtemp(`${FOLDER}.`);
  try {
    await writeFile(join(unfinished, 'package.json'), '{}');
    await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...TOOLS], {
      cwd: unfinished,
      env: { ...process.env, PUPPETEER_SKIP_DOWNLOAD: '1' },
    });
    await rename(unfinished, FOLDER);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** Everything that the parser has to say of a document, its advice too. */
export async function diagnosticsOf(document: object): Promise<readonly string[]> {
  const { Parser } = await tools();
  const { diagnostics } = await new Parser().parse(JSON.stringify(document));
  return diagnostics.map(({ code, message }) => `${code}: ${message}`);
}

/** How Modelina is set for each language; each writes into a folder of its own. */
const LANGUAGES = {
  java: {
    generator: 'JavaFileGenerator',
    presets: ['JAVA_JACKSON_PRESET'],
    options: { packageName: 'm' },
    folder: 'java/m',
  },
  go: { generator: 'GoFileGenerator', presets: ['GO_COMMON_PRESET'], options: { packageName: 'm' }, folder: 'go/m' },
  python: {
    ...{ generator: 'PythonFileGenerator', presets: ['PYTHON_PYDANTIC_PRESET'] },
    ...{ options: { packageName: 'asyncapimodels' }, folder: 'python/asyncapimodels' },
  },
  typescript: {
    generator: 'TypeScriptFileGenerator',
    presets: [],
    options: { exportType: 'named' },
    folder: 'typescript',
  },
} as const;

/** Writes the models of a document, in all languages. Modelina 5 takes 3.0.0 at most. */
export async function generateModels(document: object, root: string): Promise<void> {
  const { Parser, modelina } = await tools();
  const parsed = await new Parser().parse(JSON.stringify({ ...document, asyncapi: '3.0.0' }));
  for (const { generator, presets, options, folder } of Object.values(LANGUAGES)) {
    const Generator = modelina[generator] as Tool;
    const own = presets.map((name) => ({ preset: modelina[name], options: { addJsonTag: true } }));
    const settings = { presets: own, collectionType: 'List', modelType: 'interface' };
    await mkdir(join(root, folder), { recursive: true });
    const models = await new Generator(
      generator.startsWith('Java') ? { presets: own, collectionType: 'List' } : settings,
    ).generateToFiles(parsed.document, join(root, folder), options, true);
    if (models.length < 20) throw new Error(`${generator} made ${models.length} models`);
  }
}
