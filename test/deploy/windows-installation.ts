// The built command → its .zip for Windows, unpacked in a Wine of its own, and a simulator.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeProgramFolder } from '../../deploy/packages/program-folder.ts';
import { referenceConfig, WINDOWS } from '../../deploy/packages/reference-config.ts';
import { makeWindowsZip } from '../../deploy/windows/windows-zip.ts';
import { BUILD_VERSION } from '../support/build-version.ts';
import { poll } from '../support/poll.ts';
import { command } from './command.ts';
import { WineMachine } from './wine-machine.ts';

const ROOT = join(import.meta.dirname, '../..');
const AZURE = 'http://169.254.169.254';

export const SERVICE = 'scheduled-events-bridge';
/** Folders of drive C. */
export const [PROGRAM, DATA] = [`Program Files/${SERVICE}`, `ProgramData/${SERVICE}`];
export const CONFIG = `${DATA}/bridge.yaml`;

export class WindowsInstallation implements Disposable {
  readonly machine: WineMachine;
  /** A folder of this system for the test's own files. */
  readonly work: string;

  private constructor(machine: WineMachine, work: string) {
    this.machine = machine;
    this.work = work;
  }

  /** Not registered yet, with a fresh configuration. @param channel of Wine's debug output */
  static async make(channel?: string): Promise<WindowsInstallation> {
    const work = mkdtempSync(join(tmpdir(), 'windows-'));
    const at = new Date('2026-01-01T00:00:00Z');
    const program = join(work, 'program');
    await makeProgramFolder({ root: ROOT, version: BUILD_VERSION, architecture: 'x64', folder: program, at });
    const schema = command(process.execPath, [join(ROOT, 'dist/main.js'), 'check', '--schema']);
    const config = referenceConfig(JSON.parse(schema), WINDOWS);
    await makeWindowsZip({ root: ROOT, version: BUILD_VERSION, program, config, work, out: work, at });
    const machine = await WineMachine.start(channel);
    machine.beside(process.execPath, join(ROOT, 'dist/main.js'), 'simulate', '--listen', '169.254.169.254:80');
    const installation = new WindowsInstallation(machine, work);
    mkdirSync(machine.path(`${DATA}/log`), { recursive: true });
    installation.unpack(PROGRAM);
    machine.write(CONFIG, machine.read(`${PROGRAM}/bridge.yaml`));
    return installation;
  }

  /** The program's folder, as install.ps1 leaves it. */
  unpack(into: string): void {
    const folder = join(this.work, 'unpacked');
    command('unzip', ['-q', join(this.work, `${SERVICE}-${BUILD_VERSION}-windows-x64.zip`), '-d', folder]);
    command('cp', ['-r', join(folder, `${SERVICE}-${BUILD_VERSION}-windows-x64`), this.machine.path(into)]);
    rmSync(folder, { recursive: true });
  }

  /** Runs a verb of the service program to its end; with what it said. */
  service(...args: readonly string[]): string {
    return this.machine.run(`C:\\Program Files\\${SERVICE}\\${SERVICE}-service.exe`, ...args);
  }

  /** Resolves once the service has stopped; with its state. */
  async stopped(): Promise<string> {
    const state = () => this.machine.run('sc', 'query', SERVICE);
    await poll(() => /STATE +: 1 /.test(state()), state, 60_000);
    return state();
  }

  /** Schedules a reboot; with its EventId. */
  schedule(): string {
    const retry = ['--retry', '5', '--retry-connrefused'];
    const answer = this.machine.curl(...retry, '--data', '{"EventType":"Reboot"}', `${AZURE}/simulator/events`);
    return (JSON.parse(answer) as { EventId: string }).EventId;
  }

  [Symbol.dispose](): void {
    this.machine[Symbol.dispose]();
    rmSync(this.work, { recursive: true });
  }
}
