// The bytes of a syslog message → its fields, by the grammar of RFC 5424.
export interface ParsedMessage {
  readonly priority: number;
  readonly time: string;
  readonly host: string;
  readonly appName: string;
  readonly processId: string;
  readonly messageId: string;
  /** The parameters of each element, by its name. */
  readonly structuredData: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly message: Buffer;
}

const BLANK = 0x20;
const HEADER = /^<(\d{1,3})>1 (\S+) ([!-~]{1,255}) ([!-~]{1,48}) ([!-~]{1,128}) ([!-~]{1,32}) $/;
const TIMESTAMP = /^(?:-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?(?:Z|[+-]\d\d:\d\d))$/;
const ELEMENT = /\[([!#-<>-\\^-~]{1,32})((?: [!#-<>-\\^-~]{1,32}="(?:[^"\\\]]|\\["\\\]])*")*)\]/y;
const PARAMETER = / ([^=]+)="((?:[^"\\\]]|\\["\\\]])*)"/g;

/** @throws Error if the grammar does not allow the bytes */
export function parsedMessage(bytes: Buffer): ParsedMessage {
  const text = bytes.toString('latin1');
  const headerEnd = endOfField(bytes, 6);
  const [, priority, time = '', host = '', appName = '', processId = '', messageId = ''] =
    HEADER.exec(text.slice(0, headerEnd)) ?? [];
  if (priority === undefined || !TIMESTAMP.test(time))
    throw new Error(`no header of RFC 5424: ${text.slice(0, headerEnd)}`);
  const { structuredData, end } = elements(text, headerEnd);
  if (end < bytes.length && bytes[end] !== BLANK)
    throw new Error(`no blank before the message: ${text.slice(end, end + 20)}`);
  return {
    priority: Number(priority),
    time,
    host,
    appName,
    processId,
    messageId,
    structuredData,
    message: bytes.subarray(end + 1),
  };
}

/**
 * Returns the structured data of a text.
 * @throws Error as `parsedMessage` does
 */
export function structuredDataOf(text: string): ParsedMessage['structuredData'] {
  return elements(Buffer.from(text).toString('latin1'), 0).structuredData;
}

function endOfField(bytes: Buffer, fields: number): number {
  let end = 0;
  for (let field = 0; field < fields; field++) end = bytes.indexOf(BLANK, end) + 1;
  return end;
}

function elements(
  text: string,
  start: number,
): { readonly structuredData: ParsedMessage['structuredData']; readonly end: number } {
  if (text[start] === '-') return { structuredData: {}, end: start + 1 };
  const structuredData: Record<string, Record<string, string>> = {};
  let end = start;
  ELEMENT.lastIndex = start;
  for (let match = ELEMENT.exec(text); match !== null; match = ELEMENT.exec(text)) {
    const [, name = '', parameters = ''] = match;
    structuredData[name] = Object.fromEntries(
      [...parameters.matchAll(PARAMETER)].map(([, key = '', value = '']) => [key, unescaped(value)]),
    );
    end = ELEMENT.lastIndex;
  }
  if (end === start) throw new Error(`no structured data: ${text.slice(start, start + 40)}`);
  return { structuredData, end };
}

function unescaped(value: string): string {
  return Buffer.from(value.replaceAll(/\\(["\\\]])/g, '$1'), 'latin1').toString();
}
