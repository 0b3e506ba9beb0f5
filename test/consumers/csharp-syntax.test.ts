// docs/receive/examples/csharp/ → no fault of syntax: there is no .NET SDK to run it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const FOLDER = join(import.meta.dirname, '../../docs/receive/examples/csharp');
const PYTHON = process.env['CONSUMERS_PYTHON'] ?? 'python3';

/** Reads files, and prints the line of each fault. */
const PARSE = `
import sys, tree_sitter, tree_sitter_c_sharp
parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_c_sharp.language()))
def faults(node):
    if node.type == "ERROR" or node.is_missing: yield node
    for child in node.children: yield from faults(child)
for path in sys.argv[1:]:
    text = sys.stdin.buffer.read() if path == "-" else open(path, "rb").read()
    for node in faults(parser.parse(text).root_node): print(f"{path}:{node.start_point[0] + 1}")
`;

function faultsIn(paths: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync(PYTHON, ['-c', PARSE, ...paths], { input, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return stdout;
}

function withoutParser(): string | false {
  if (spawnSync(PYTHON, ['-c', 'import tree_sitter, tree_sitter_c_sharp']).status === 0) return false;
  const reason = `${PYTHON} lacks tree-sitter and tree-sitter-c-sharp (CONSUMERS_PYTHON names another Python)`;
  if (process.env['REQUIRE_CONSUMERS']) throw new Error(`${reason}; REQUIRE_CONSUMERS is set`);
  return reason;
}

test('the consumer in C# has no fault of syntax', { skip: withoutParser() }, () => {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.cs'));
  assert.ok(files.includes('Program.cs'));
  assert.equal(faultsIn(files.map((file) => join(FOLDER, file))), '');
  assert.notEqual(faultsIn(['-'], 'class Broken { void Run( { } }'), '', 'the parser finds faults');
});
