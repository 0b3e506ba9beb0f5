// A test → a network namespace with the addresses that it names, gone with the test.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Ended, Program, type ProgramOptions } from './program.ts';

const MAIN = join(import.meta.dirname, '../../dist/main.js');

let made = 0;

/**
 * Why no namespace can be made here, for a test's `skip`; false where one can.
 * @throws instead where REQUIRE_NETWORK_NAMESPACES is set, as in CI
 */
export function noNetworkNamespace(): string | false {
  const probe = `probe-${process.pid}`;
  const added = spawnSync('ip', ['netns', 'add', probe], { encoding: 'utf8' });
  if (added.status === 0) {
    execFileSync('ip', ['netns', 'delete', probe]);
    return false;
  }
  const reason = `a network namespace cannot be made here: ${added.error?.message ?? added.stderr.trim()}`;
  if (process.env['REQUIRE_NETWORK_NAMESPACES']) throw new Error(`${reason}; REQUIRE_NETWORK_NAMESPACES is set`);
  return reason;
}

export class NetworkNamespace {
  readonly name: string;
  readonly #t: TestContext;

  private constructor(t: TestContext, name = `bridge-${process.pid}-${++made}`) {
    this.name = name;
    this.#t = t;
    t.after(() => this.#delete());
  }

  /** A name that is free, if none is given; what the test makes of that name is deleted behind it. */
  static named(t: TestContext, name?: string): NetworkNamespace {
    return new NetworkNamespace(t, name);
  }

  /** One with these IPv4 addresses on its loopback, besides 127.0.0.1. */
  static create(t: TestContext, ...addresses: readonly string[]): NetworkNamespace {
    const namespace = new NetworkNamespace(t);
    ip('netns', 'add', namespace.name);
    ip('-n', namespace.name, 'link', 'set', 'lo', 'up');
    for (const address of addresses) ip('-n', namespace.name, 'address', 'add', `${address}/32`, 'dev', 'lo');
    return namespace;
  }

  /** Two that are joined by a cable: `10.77.0.1` at the near end, `10.77.0.2` at the far one. */
  static joined(t: TestContext): {
    readonly near: NetworkNamespace;
    readonly far: NetworkNamespace;
    readonly cable: Cable;
  } {
    const [near, far] = [NetworkNamespace.create(t), NetworkNamespace.create(t)];
    ip('-n', near.name, 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', far.name);
    for (const [{ name }, address] of [[near, '10.77.0.1/24'] as const, [far, '10.77.0.2/24'] as const]) {
      ip('-n', name, 'address', 'add', address, 'dev', 'cable');
      ip('-n', name, 'link', 'set', 'cable', 'up');
    }
    const lay = (state: 'up' | 'down') => ip('-n', far.name, 'link', 'set', 'cable', state);
    return { near, far, cable: { pull: () => lay('down'), plug: () => lay('up') } };
  }

  get exists(): boolean {
    return existsSync(`/run/netns/${this.name}`);
  }

  /** Starts the built command in it, killed behind the test. */
  startBridge(args: readonly string[], { env = {} }: ProgramOptions = {}): Program {
    return this.#started([process.execPath, MAIN, ...args], env);
  }

  /** Starts a line of Bash in it, killed behind the test. */
  startLine(line: string, { folder = '.', env = {} }: LineOptions = {}): Program {
    return this.#started(['bash', '--norc', '-c', `cd -- "$0" && exec ${line}`, folder], env);
  }

  /** Runs lines of Bash in it to their end. */
  async run(lines: string, { folder = '.', env = {} }: LineOptions = {}): Promise<Ended> {
    return await this.#started(['bash', '--norc', '-c', `cd -- "$0" || exit\n${lines}`, folder], env).ended();
  }

  #started(command: readonly string[], env: Readonly<Record<string, string>>): Program {
    const program = new Program(['exec', this.name, ...command], { node: 'ip', main: 'netns', env });
    this.#t.after(async () => {
      if (!program.hasEnded) await program.end('SIGKILL');
    });
    return program;
  }

  /**
   * Sends a signal to all its processes, which are those that the test started in it, and what they started; as Ctrl-C
   * does.
   */
  signal(signal: NodeJS.Signals): void {
    const pids = execFileSync('ip', ['netns', 'pids', this.name], { encoding: 'utf8' })
      .split('\n')
      .filter(Boolean)
      .map(Number);
    for (const pid of pids) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  #delete(): void {
    if (!this.exists) return;
    this.signal('SIGKILL');
    execFileSync('ip', ['netns', 'delete', this.name]);
  }
}

/** Neither end is told when the other one goes: what is sent is lost. */
export interface Cable {
  readonly pull: () => void;
  readonly plug: () => void;
}

interface LineOptions {
  /** Where it runs; that of the tests by default. */
  readonly folder?: string;
  /** Besides PATH. */
  readonly env?: Readonly<Record<string, string>>;
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}
