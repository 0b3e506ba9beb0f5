// The built package → packed as for npm, unpacked into a project outside this repository.
import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { folderOf } from '../support/folder.ts';
import type { Ended } from '../support/program.ts';

export const ROOT = join(import.meta.dirname, '../..');
const NAME = 'scheduled-events-bridge';

const folder = mkdtempSync(join(tmpdir(), 'bridge-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** Once for all tests of a file. Without npm's scripts, which would build dist/ anew under the other tests. */
const args = ['pack', '--json', '--ignore-scripts', '--offline', '--pack-destination', folder];
const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT });
const [packed] = JSON.parse(stdout) as [{ filename: string; files: { path: string }[] }];

/** What a user would fetch. */
export const tarball = join(folder, packed.filename);

/** What the package holds, as npm lists it. */
export const packedPaths: readonly string[] = packed.files.map(({ path }) => path);

/** A user's project with the package installed. */
export class Project {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static empty(t: TestContext): Project {
    const project = new Project(folderOf(t));
    project.write('package.json', '{ "type": "module" }');
    return project;
  }

  static async withPackage(t: TestContext): Promise<Project> {
    const project = Project.empty(t);
    const home = join(project.folder, 'node_modules', NAME);
    const commands = join(project.folder, 'node_modules/.bin');
    for (const path of [home, commands]) mkdirSync(path, { recursive: true });
    await promisify(execFile)('tar', ['-xzf', tarball, '--strip-components=1', '-C', home]);
    // As npm does with a package's commands.
    chmodSync(join(home, 'dist/main.js'), 0o755);
    symlinkSync(`../${NAME}/dist/main.js`, join(commands, NAME));
    return project;
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.folder, path), text);
  }

  /**
   * Runs a command to its end, in the project's folder and with this Node as `node`.
   * @throws where it hangs for a minute
   */
  run(command: string, args: readonly string[]): Promise<Ended> {
    const PATH = `${dirname(process.execPath)}:${process.env['PATH']}`;
    return new Promise((resolve, reject) => {
      const child = execFile(
        command,
        args,
        { cwd: this.folder, env: { PATH }, timeout: 60_000 },
        (error, stdout, stderr) => {
          if (error && child.exitCode === null && child.signalCode === null) reject(error);
          else if (error?.killed) reject(new Error(`${command} ${args.join(' ')} hangs: ${stdout}${stderr}`));
          else resolve({ code: child.exitCode, signal: child.signalCode, stdout, stderr });
        },
      );
    });
  }

  node(...args: readonly string[]): Promise<Ended> {
    return this.run('node', args);
  }

  /** Packages of this repository's own installation, for a project that has them beside ours. */
  link(...names: readonly string[]): void {
    for (const name of names) {
      const place = join(this.folder, 'node_modules', name);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules', name), place);
    }
  }

  /** Checks this file's types with nothing but the options that matter here. */
  types(
    path: string,
    moduleResolution: 'nodenext' | 'bundler',
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<Ended> {
    const module = moduleResolution === 'bundler' ? 'esnext' : 'nodenext';
    const options = {
      module,
      moduleResolution,
      target: 'es2024',
      lib: ['es2024'],
      types: [],
      strict: true,
      noEmit: true,
      ...more,
    };
    this.write('tsconfig.json', JSON.stringify({ compilerOptions: options, files: [path] }));
    return this.run('node', [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.json']);
  }
}
