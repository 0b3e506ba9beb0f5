// Any thrown value → its fields in the log: code, message, messages of its causes.
import { codeOf } from '../errors.ts';
import { cutText } from './cut-texts.ts';

/** The field `err` of a log line. */
interface SerializedError {
  /** `BRIDGE_…`, or the code of a foreign error; absent without one. */
  readonly code?: string;
  readonly message: string;
  /** Messages of its causes, the direct cause first. */
  readonly causes?: readonly string[];
  readonly stack?: string;
}

/** Longer chains of causes, and circular ones, are cut here. */
const MOST_CAUSES = 5;
/** In UTF-16 units. */
const LONGEST_MESSAGE = 2000;
const LONGEST_STACK = 8000;

export function serializeError(error: unknown, withStack: boolean): SerializedError {
  if (!(error instanceof Error)) return { message: masked(String(error)) };
  const code = codeOf(error);
  const causes = causesOf(error).map((cause) => masked(cause instanceof Error ? cause.message : String(cause)));
  return {
    ...(code === undefined ? {} : { code }),
    message: masked(error.message),
    ...(causes.length > 0 ? { causes } : {}),
    ...(withStack && error.stack !== undefined ? { stack: masked(error.stack, LONGEST_STACK) } : {}),
  };
}

function causesOf(error: Error): unknown[] {
  const causes: unknown[] = [];
  let cause = error.cause;
  while (cause !== undefined && causes.length < MOST_CAUSES) {
    causes.push(cause);
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  return causes;
}

/** Replaces credentials in headers and URLs, which foreign messages may quote, then cuts the text. */
function masked(text: string, longest = LONGEST_MESSAGE): string {
  return cutText(
    text.replace(/\b(Bearer|Basic)\s+[^\s"',]+/gi, '$1 [secret]').replace(/(\w:\/\/)[^/\s@]+@/g, '$1[secret]@'),
    longest,
  );
}
