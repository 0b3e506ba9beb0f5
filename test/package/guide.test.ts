// docs/simulate/testing-with-the-simulator.md → its code blocks, run with the package installed.
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { codeBlocksOf } from '../docs/markdown-page.ts';
import { Project } from './installed-package.ts';

const blocks = codeBlocksOf('docs/simulate/testing-with-the-simulator.md');

function blocksIn(language: string): readonly string[] {
  return blocks.filter((block) => block.language === language).map(({ text }) => text);
}

/** With each block that names its file in its first line as that file. */
async function projectOf(t: TestContext): Promise<Project> {
  const project = await Project.withPackage(t);
  for (const { text } of blocks) {
    const file = /^(?:\/\/|#) ([\w-]+\.(?:test\.)?(?:js|py))\n/.exec(text)?.[1];
    if (file) project.write(file, text);
  }
  return project;
}

test('every block of the page is in a language that is run here', () => {
  assert.deepEqual([...new Set(blocks.map(({ language }) => language))].sort(), ['js', 'python', 'sh']);
});

test('the tests in JavaScript pass', async (t) => {
  const project = await projectOf(t);
  const { code, stdout } = await project.node('--test', '--test-reporter=tap');
  assert.equal(code, 0, stdout);
  const tests = blocksIn('js')
    .join('')
    .match(/^test\(/gm)?.length;
  assert.match(stdout, new RegExp(`^# pass ${tests}$`, 'm'));
});

test('the tests in JavaScript fail if the client under test does nothing', async (t) => {
  const project = await projectOf(t);
  project.write('approve-reboots.js', 'export async function approveReboots() {}\n');
  const ofThatClient = ['--test-name-pattern=is approved|starts for all', 'reboots.test.js', 'leader.test.js'];
  const { code, stdout } = await project.node('--test', '--test-reporter=tap', ...ofThatClient);
  assert.equal(code, 1, stdout);
  assert.match(stdout, /^# pass 0$/m);
  assert.match(stdout, /^# fail 2$/m);
});

/**
 * A fixture of pytest is a context manager, and its test a function of what that gives: enough of it for the page,
 * without installing it.
 */
const PYTEST = 'from contextlib import contextmanager as fixture\n';
const RUN_PYTHON = `
import test_reboots
tests = [name for name in vars(test_reboots) if name.startswith("test_")]
for name in tests:
    with test_reboots.azure() as azure:
        getattr(test_reboots, name)(azure)
print(len(tests), "passed")
`;

test('the test in Python passes', async (t) => {
  const project = await projectOf(t);
  project.write('pytest.py', PYTEST);
  project.write('run.py', RUN_PYTHON);
  const { code, stdout, stderr } = await project.run('python3', ['run.py']);
  assert.equal(code, 0, stderr);
  assert.equal(stdout, '1 passed\n');
});

test('the shell commands steer a simulator', async (t) => {
  const project = await projectOf(t);
  const client = 'curl -sf -H Metadata:true "$SIM/metadata/scheduledevents?api-version=2020-07-01" >/dev/null';
  for (const block of blocksIn('sh')) {
    const script = block.replace('# ... run the client under test against $SIM ...', client);
    assert.notEqual(script, block);
    const { code, stdout, stderr } = await project.run('bash', ['-eu', '-c', script]);
    assert.equal(code, 0, stderr);
    const [, state, requests] = stdout.split(/(?<=[}\]])(?=[{[]"?)/).map((text) => JSON.parse(text));
    assert.equal(state.events[0].EventStatus, 'Started');
    assert.deepEqual(
      requests.map((request: { status: number }) => request.status),
      [200],
    );
  }
});
