// The section `store`: where rows are kept, how long, how many → schema and defaults.
import * as v from 'valibot';
import { durationBetween, size } from '../schema/pieces.ts';

const LEAST_STORE_BYTES = 16 * 1024 * 1024;

export const storeSection = v.pipe(
  v.strictObject({
    path: v.exactOptional(
      v.pipe(
        v.string(),
        v.minLength(1, 'must not be empty'),
        v.description(
          'The folder of the durable store. Default: ./scheduled-events-bridge-data; in a systemd service with StateDirectory=, that folder.',
        ),
      ),
    ),
    retain: v.optional(
      durationBetween(
        '1s',
        '3650d',
        'How long the journal and delivered rows are kept. What is undelivered or dead-lettered is never dropped for age.',
      ),
      '30d',
    ),
    maxSize: v.exactOptional(
      v.pipe(
        size(),
        v.check((bytes) => bytes >= LEAST_STORE_BYTES, 'must be at least 16MiB'),
        v.description(
          'How large the database may become, at least 16MiB; its log adds some MiB. From four fifths on what was delivered is dropped before store.retain says so, oldest first. Default: no bound.',
        ),
      ),
    ),
  }),
  v.transform(({ path, retain, maxSize }) => ({ path: path ?? null, retainMs: retain, maxBytes: maxSize ?? null })),
  v.description('Where the bridge keeps what it must not lose.'),
);
