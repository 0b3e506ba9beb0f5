// Options of a credential → the credential in virtual time; no secret and no token is logged.
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { AzureCredential } from '../../src/azure/credential.ts';
import type { AzureCredentialOptions } from '../../src/azure/options.ts';
import { BridgeError } from '../../src/errors.ts';
import { adapterDeps } from '../adapters/adapter-deps.ts';
import { VirtualTime } from './virtual-time.ts';

// Tokens live by the machine's clock, and loading the library takes seconds of it where the machine is busy.
await import('@azure/identity');

const never = new AbortController().signal;
/** Never to be shown. */
export const SECRET = 'hidden-secret-4711';
/** The library keeps tokens for all that is alike, in one process. */
let scopes = 0;

export function start(t: TestContext, options: AzureCredentialOptions) {
  const time = new VirtualTime({ startMs: Date.now() });
  const deps = adapterDeps({ time });
  const credential = new AzureCredential(options, deps, 'sinks.stream.sasl');
  scopes += 1;
  const scope = `https://ns-${scopes}.test/.default`;
  const ask = async (signal = never) => (await credential.token(scope, signal)).token;
  const fails = async (signal = never): Promise<BridgeError> => {
    const error = await ask(signal).then(
      (token) => assert.fail(`it gave ${token}`),
      (error: unknown) => error,
    );
    assert.ok(error instanceof BridgeError, String(error));
    assert.equal(error.scope, 'sink');
    assert.ok(!error.message.includes(SECRET) && !deps.logged().includes(SECRET), 'no secret shows');
    return error;
  };
  t.after(() => assert.ok(!deps.logged().includes('token-'), 'no token is logged'));
  return { time, ask, fails, scope, credential, logged: deps.logged };
}
