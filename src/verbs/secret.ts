// `secret`: random bytes → a webhook secret or key pair; a private key → its public key.
import { lookUp } from '../config/secrets.ts';
import { readRegularFile } from '../secrets/regular-file.ts';
import {
  ed25519Secret,
  publicKeyOf,
  readWebhookSecret,
  SEED_BYTES,
  symmetricSecret,
} from '../secrets/webhook-secret.ts';
import { EXIT, optionText, usageError, type Verb, type VerbContext } from './verb.ts';

/** The length of a SHA-256 digest, for which it is the HMAC key. */
const SYMMETRIC_BYTES = 32;

export const secretVerb: Verb = {
  usage: '[--type symmetric|ed25519 | --public FILE]',
  description: `Prints a new secret for the option secrets of a webhook sink, from the machine's cryptographic random source. By default it is one line with whsec_ and
32 bytes in base64, shared by bridge and receiver. --type ed25519 prints one line of JSON with a key pair, { privateKey, publicKey }: the bridge
signs with the private key; receivers get only the public key, so they can verify but not sign. Nothing is stored.`,
  options: {
    type: { type: 'string', value: 'TYPE', help: 'symmetric (default) or ed25519' },
    public: {
      type: 'string',
      value: 'FILE',
      help: 'creates nothing: prints the public key of the private key in FILE (whsk_… or PEM)',
    },
  },
  examples: [
    ['(umask 077; scheduled-events-bridge secret > hook.secret)', 'create a file for secrets: [{ file: hook.secret }]'],
    ['scheduled-events-bridge secret --type ed25519', 'create a key pair'],
    ['scheduled-events-bridge secret --public hook-key.pem', 'print the public key for the receivers'],
  ],
  async run(context) {
    const file = optionText(context, 'public');
    await context.print(file === undefined ? newSecret(context) : publicKeyIn(context, file));
    return EXIT.fine;
  },
};

function newSecret(context: VerbContext): string {
  const type = optionText(context, 'type') ?? 'symmetric';
  if (type === 'symmetric') return symmetricSecret(context.secureRandom(SYMMETRIC_BYTES));
  if (type !== 'ed25519') throw usageError(`--type takes symmetric or ed25519, not "${type}"`);
  const privateKey = ed25519Secret(context.secureRandom(SEED_BYTES));
  return JSON.stringify({ privateKey, publicKey: publicKey(privateKey, '--type ed25519') });
}

/** Reads the file as the configuration does: without its last line end. */
function publicKeyIn(context: VerbContext, file: string): string {
  if (optionText(context, 'type') !== undefined)
    throw usageError('--type and --public exclude each other: give one of them');
  const found = lookUp({ file }, { env: {}, readFile: readRegularFile, directory: '.' });
  if ('fault' in found) throw usageError(`--public: ${found.fault}`);
  return publicKey(found.text, `--public: the content of ${file}`);
}

function publicKey(privateKey: string, what: string): string {
  const signing = readWebhookSecret(privateKey);
  if ('fault' in signing) throw usageError(`${what} ${signing.fault}`);
  if (signing.version === 'v1') throw usageError(`${what} is a shared secret, which has no public key`);
  return publicKeyOf(signing.key);
}
