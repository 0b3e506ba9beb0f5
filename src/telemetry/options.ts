// The section `log` of the configuration: schema.
import * as v from 'valibot';

/** From little to much. */
export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

export const logSection = v.pipe(
  v.strictObject({
    level: v.optional(
      v.pipe(v.picklist(LOG_LEVELS), v.description('What is logged: this level and those above. --log-level wins.')),
      'info',
    ),
  }),
  v.description('The log.'),
);
