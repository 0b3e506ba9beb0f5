// docs/receive/examples/python/ → the command of each program, or why there is no Python for it.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Command } from './maintenance.ts';

const FOLDER = join(import.meta.dirname, '../../docs/receive/examples/python');
/** The program of the Python that has the packages. */
export const PYTHON = process.env['CONSUMERS_PYTHON'] ?? 'python3';
const MODULES =
  'azure.identity, azure.servicebus, cloudevents.core.bindings.kafka, confluent_kafka, flask, standardwebhooks, waitress';

const RESUMES = 'resuming: prepared for 1 events';

/** For the `skip` of a test: false, or the reason. With REQUIRE_CONSUMERS the reason is an error. */
export const withoutPython: string | false = missing();

/** @param file such as `kafka_consumer.py` */
export function pythonProgram(file: string): Command {
  // No .pyc files beside the pages.
  return { node: PYTHON, flags: ['-B'], main: join(FOLDER, file), resumes: RESUMES, endsOnFailure: true };
}

function missing(): string | false {
  if (spawnSync(PYTHON, ['-c', `import ${MODULES}`]).status === 0) return false;
  const reason = `${PYTHON} lacks the packages of docs/receive/examples/python/requirements.txt (CONSUMERS_PYTHON names another Python)`;
  if (process.env['REQUIRE_CONSUMERS']) throw new Error(`${reason}; REQUIRE_CONSUMERS is set`);
  return reason;
}
