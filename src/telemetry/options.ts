// The section `log` of the configuration → schema and type.
import * as v from 'valibot';

/** From the fewest lines to the most. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const logSection = v.pipe(
  v.strictObject({
    level: v.optional(
      v.pipe(v.picklist(LOG_LEVELS), v.description('The lowest level that is logged. --log-level overrides it.')),
      'info',
    ),
  }),
  v.description('The log.'),
);
