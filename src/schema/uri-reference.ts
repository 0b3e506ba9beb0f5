// A text → whether it is a URI reference (RFC 3986, appendix A), as CloudEvents require it.

const ENCODED = '%[0-9A-Fa-f]{2}';
/** Unreserved characters, sub-delims and the given characters. */
const of = (characters: string) => `(?:[A-Za-z0-9._~!$&'()*+,;=${characters}-]|${ENCODED})`;

const FUTURE = `[Vv][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+`;
const HOST = `(?:\\[(?:(?<ipv6>[0-9A-Fa-f:.]+)|${FUTURE})\\]|${of('')}*)`;
const AUTHORITY = `(?:${of(':')}*@)?${HOST}(?::[0-9]*)?`;
const SEGMENTS = `(?:/${of(':@')}*)*`;
const END = `(?:\\?${of(':@/?')}*)?(?:#${of(':@/?')}*)?`;

/** With an authority; with a scheme; without either, so that the first segment must not contain a colon. */
const FORMS = [
  `(?:[A-Za-z][A-Za-z0-9+.-]*:)?//${AUTHORITY}${SEGMENTS}`,
  `[A-Za-z][A-Za-z0-9+.-]*:(?:/?${of(':@')}+${SEGMENTS}|/)?`,
  `(?:/${of(':@')}+${SEGMENTS}|/|${of('@')}+${SEGMENTS})?`,
].map((form) => new RegExp(`^${form}${END}$`));

/** An empty reference is not accepted. */
export function isUriReference(text: string): boolean {
  return text !== '' && FORMS.some((form) => fits(form.exec(text)));
}

function fits(match: RegExpExecArray | null): boolean {
  if (match === null) return false;
  const ipv6 = match.groups?.['ipv6'];
  return ipv6 === undefined || process.getBuiltinModule('node:net').isIPv6(ipv6);
}
