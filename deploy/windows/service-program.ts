// service/ (Go) → scheduled-events-bridge-service.exe, and its licences.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../packages/run.ts';

/** A Go module in the .exe, for the bill of materials. */
interface GoPart {
  readonly name: string;
  readonly version: string;
}

const LICENCE = 'BSD-3-Clause';
const ENV = {
  GOOS: 'windows',
  GOARCH: 'amd64',
  GOAMD64: 'v1',
  CGO_ENABLED: '0',
  GOFLAGS: '-mod=readonly',
  GOWORK: 'off',
  GOEXPERIMENT: '',
};

/** Returns the path of Go: GO in the environment, or from PATH. @throws with a remedy if there is none */
export async function goCommand(go = process.env['GO'] || 'go'): Promise<string> {
  await run(go, ['version']).catch((error: unknown) => {
    const advice =
      'install Go 1.24 or newer, name one in GO, or leave the .zip for Windows out: npm run package -- --without-windows';
    throw new Error(`Go is needed for the service program of Windows: ${advice}`, { cause: error });
  });
  return go;
}

/** Options for reproducible bytes: the same Go makes the same bytes in any folder. */
export async function makeServiceProgram(root: string, folder: string): Promise<readonly GoPart[]> {
  const go = await goCommand();
  const source = { cwd: join(root, 'deploy/windows/service'), env: ENV };
  const name = 'scheduled-events-bridge-service.exe';
  await run(
    go,
    ['build', '-trimpath', '-buildvcs=false', '-ldflags=-buildid= -s -w', '-o', join(folder, name), '.'],
    source,
  );
  const [goRoot = '', goVersion = ''] = (await run(go, ['env', 'GOROOT', 'GOVERSION'], source)).trim().split('\n');
  const format = '{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}';
  const modules = (await run(go, ['list', '-m', '-f', format, 'all'], source)).trim().split('\n').filter(Boolean);
  const parts = [['std', goVersion.replace('go', ''), goRoot], ...modules.map((line) => line.split('\t'))] as [
    string,
    string,
    string,
  ][];
  await writeFile(join(folder, 'SERVICE-LICENSES'), await notices(name, parts));
  return parts.map(([path, version]) => ({ name: path, version }));
}

async function notices(name: string, parts: readonly (readonly [string, string, string])[]): Promise<string> {
  const texts = parts.map(async ([path, version, folder]) => {
    const text = await readFile(join(folder, 'LICENSE'), 'utf8');
    if (!/Redistribution and use in source and binary forms/.test(text))
      throw new Error(`${path} is no longer under ${LICENCE}`);
    return `${path === 'std' ? 'Go' : path} ${version} (${LICENCE})\n\n${text}`;
  });
  return `${[`${name} holds code of these:`, ...(await Promise.all(texts))].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

interface Bom {
  components: unknown[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

/** Returns the bill of materials of the program with these parts. */
export function withGoParts(text: string, parts: readonly GoPart[]): string {
  const bom = JSON.parse(text) as Bom;
  for (const { name, version } of parts) {
    const ref = `pkg:golang/${name}@${version}`;
    bom.components.push({
      type: 'library',
      'bom-ref': ref,
      name,
      version,
      licenses: [{ license: { id: LICENCE } }],
      purl: ref,
    });
    bom.dependencies[0]?.dependsOn?.push(ref);
    bom.dependencies.push({ ref });
  }
  return `${JSON.stringify(bom, null, 2)}\n`;
}
