// The bytes of an export → the request, read in Python by the published definitions.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const SCRIPT = join(import.meta.dirname, 'read_request.py');
const PYTHON = process.env['OPENTELEMETRY_PROTO_PYTHON'] ?? 'python3';

/** For the `skip` of a test: false, or the reason. Throws instead if REQUIRE_OPENTELEMETRY_PROTO is set, as in CI. */
export const withoutDefinitions: string | false = absence();

function absence(): string | false {
  if (spawnSync(PYTHON, ['-c', 'import opentelemetry.proto.logs.v1.logs_pb2']).status === 0) return false;
  const reason = `${PYTHON} has no opentelemetry-proto: install it by pip, or name a Python that has it in OPENTELEMETRY_PROTO_PYTHON`;
  if (process.env['REQUIRE_OPENTELEMETRY_PROTO']) throw new Error(`REQUIRE_OPENTELEMETRY_PROTO is set, and ${reason}`);
  return reason;
}

/**
 * Reads a request. Every name and type must be known, and protobuf must be what the library itself would write.
 * @throws Error that names the fault
 */
export function readByDefinitions(encoding: string, body: Uint8Array | string): unknown {
  const { status, stdout, stderr } = spawnSync(PYTHON, [SCRIPT, encoding], {
    input: body,
    maxBuffer: 64 * 1024 ** 2,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  if (status !== 0) throw new Error(String(stderr));
  return JSON.parse(String(stdout));
}
