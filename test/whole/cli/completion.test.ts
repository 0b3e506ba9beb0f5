// `completion` → scripts that real shells on a terminal complete by.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { VERBS } from '../../../src/verbs/verbs.ts';
import { folderOf } from '../../support/folder.ts';
import { poll } from '../../support/poll.ts';
import { run, start } from '../../support/program.ts';

const ON_TERMINAL = join(import.meta.dirname, '../../support/on-terminal.py');
const NAME = 'scheduled-events-bridge';

/** How each shell starts without the user's files, and prints the arguments of a command that it runs. */
const SHELLS: Readonly<Record<string, { readonly args: readonly string[]; readonly setUp: string }>> = {
  bash: { args: ['--norc', '--noprofile', '-i'], setUp: `${NAME}() { echo "got: $*"; }` },
  zsh: { args: ['-f', '-i'], setUp: `autoload -U compinit; compinit -D; ${NAME}() { print -r -- "got: $*"; }` },
  fish: { args: ['--no-config', '-i'], setUp: `function ${NAME}; echo "got: $argv"; end` },
};

/** What is typed, with Tab where the shell completes, and the arguments that the command gets. */
const LINES: readonly (readonly [typed: string, args: RegExp])[] = [
  ['sta\t', /^status$/],
  ['dead-l\tret\t', /^dead-letters retry$/],
  ['status --brid\thttp://x', /^status --bridge[ =]http:\/\/x$/],
  ['run --conf\tbridge.y\t', /^run --config[ =]bridge\.yaml$/],
  ['simulate --scen\tbusy\t', /^simulate --scenario[ =]busy-month$/],
  ['policy test --scen\tbusy\t', /^policy test --scenario[ =]busy-month$/],
  ['simulate --scen\tbridge.y\t', /^simulate --scenario[ =]bridge\.yaml$/],
  ['completion z\t', /^completion zsh$/],
  ['help relo\t', /^help reload$/],
];

for (const [shell, { args, setUp }] of Object.entries(SHELLS)) {
  const skip = missing(shell);
  test(`${shell} completes verbs, first words, options and files`, { skip }, async (t) => {
    const folder = folderOf(t);
    writeFileSync(join(folder, 'bridge.yaml'), '');
    writeFileSync(join(folder, 'set-up'), `${setUp}\n${await script(t, shell)}\necho 'got: set up'\n`);
    const env = { HOME: folder, XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder, TERM: 'dumb', TERMINAL_SIZE: '200x50' };
    const options = { node: 'python3', main: ON_TERMINAL, cwd: folder, input: null, env };
    const terminal = start(t, [shell, ...args], options);
    const got = () => terminal.stdout.match(/(?<=got: ).*?(?=\s*[\r\n])/g) ?? [];
    const typed = async (line: string) => {
      const before = got().length;
      terminal.child.stdin?.write(`${line}\r`);
      await poll(
        () => got().length > before,
        () => `what ${shell} makes of ${line}: ${JSON.stringify(terminal.stdout)}`,
      );
      return got().at(-1) ?? '';
    };
    await poll(() => terminal.stdout.length > 0, 'the first prompt');
    await typed('source ./set-up');
    for (const [line, expected] of LINES) assert.match(await typed(`${NAME} ${line}`), expected);
  });
}

test('each script has each verb and each option of the tables', async (t) => {
  for (const shell of Object.keys(SHELLS)) {
    const text = await script(t, shell);
    for (const [name, { load }] of Object.entries(VERBS)) {
      assert.match(text, new RegExp(`\\b${name}\\b`));
      for (const option of Object.keys((await load()).options))
        assert.match(text, shell === 'fish' ? new RegExp(`${name}' -l ${option} `) : new RegExp(`--${option}\\b`));
    }
  }
});

async function script(t: TestContext, shell: string): Promise<string> {
  const { code, stdout, stderr } = await run(t, ['completion', shell]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

/** Why it cannot be tried; false if it can. */
function missing(shell: string): string | false {
  if (process.env['REQUIRE_SHELLS'] === '1') return false;
  const isThere = spawnSync(shell, ['--version']).status === 0;
  return isThere ? false : `${shell} is not there`;
}
