// The section `store`: path, retention and size limit → schema and defaults.
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
        'How long the journal and delivered rows are stored. Undelivered and dead-lettered rows are never deleted because of their age.',
      ),
      '30d',
    ),
    maxSize: v.exactOptional(
      v.pipe(
        size(),
        v.check((bytes) => bytes >= LEAST_STORE_BYTES, 'must be at least 16MiB'),
        v.description(
          'The maximum size of the database, at least 16MiB; its log adds some MiB. From four fifths on, the bridge deletes delivered rows before store.retain, oldest first. Default: no limit.',
        ),
      ),
    ),
  }),
  v.transform(({ path, retain, maxSize }) => ({ path: path ?? null, retainMs: retain, maxBytes: maxSize ?? null })),
  v.description('The durable store of the bridge: its folder, retention and size.'),
);
