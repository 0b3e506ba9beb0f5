// A token source → the OAUTHBEARER mechanism for kafkajs (RFC 7628), which detects a refusal.
import type { Mechanism } from 'kafkajs';
import errors from 'kafkajs/src/errors.js';
import { messageOf } from '../../../src/errors.ts';

const SEPARATOR = '\u0001';

/** Returns the mechanism. @param token called for each authentication; its errors pass unchanged */
export function oauthbearer(token: () => Promise<string>, extensions: Readonly<Record<string, string>>): Mechanism {
  return {
    mechanism: 'oauthbearer',
    authenticationProvider: ({ saslAuthenticate }) => ({
      authenticate: async () => {
        const pairs = Object.entries({ auth: `Bearer ${await token()}`, ...extensions }).map(
          ([key, value]) => `${key}=${value}${SEPARATOR}`,
        );
        const say = (text: string) =>
          saslAuthenticate<string>({
            request: { encode: () => withLength(text) },
            response: { decode: (raw) => raw.subarray(4), parse: (data) => data.toString('utf8') },
          });
        try {
          // A server that refuses a token answers with the reason, waits for this separator, and then fails (section
          // 3.2.3).
          const refusal = await say(`n,,${SEPARATOR}${pairs.join('')}${SEPARATOR}`);
          if (!refusal) return;
          await say(SEPARATOR);
          throw new Error(`the token was refused: ${statusOf(refusal)}`);
        } catch (error) {
          if (isConnectionError(error)) throw error;
          throw new errors.KafkaJSSASLAuthenticationError(
            `SASL OAUTHBEARER authentication failed: ${messageOf(error)}`,
          );
        }
      },
    }),
  };
}

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.byteLength);
  return Buffer.concat([length, bytes]);
}

/** Returns `invalid_token` of `{"status":"invalid_token"}`, and no other text of the server. */
function statusOf(refusal: string): string {
  return /"status"\s*:\s*"([a-z_]{1,40})"/.exec(refusal)?.[1] ?? 'no reason given';
}

function isConnectionError(error: unknown): boolean {
  return error instanceof Error && /^KafkaJS(Connection|ConnectionClosed|RequestTimeout)Error$/.test(error.name);
}
