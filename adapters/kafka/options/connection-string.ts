// An Event Hubs connection string → its host, or its fault. Pure.

/** The user name of SASL PLAIN with a connection string (Azure Event Hubs, Kafka: shared access signature). */
export const CONNECTION_STRING_USER = '$ConnectionString';

const SHAPE = 'must be Endpoint=sb://NAMESPACE.servicebus.windows.net/;SharedAccessKeyName=…;SharedAccessKey=…';

/** Returns the fault, without any of the text, or null if the text is valid. */
export function connectionStringFault(text: string): string | null {
  const parts = partsOf(text);
  if (hostOf(parts) === null) return SHAPE;
  if (parts.has('sharedaccesssignature'))
    return 'contains a SharedAccessSignature, which Event Hubs does not accept from Kafka clients: use SharedAccessKeyName and SharedAccessKey';
  return parts.get('sharedaccesskeyname') && parts.get('sharedaccesskey') ? null : SHAPE;
}

/** Parses a text without a fault. */
export function connectionStringHost(text: string): string {
  return hostOf(partsOf(text)) ?? '';
}

function hostOf(parts: ReadonlyMap<string, string>): string | null {
  const endpoint = parts.get('endpoint') ?? '';
  // With the scheme sb: the URL parser would neither check nor normalize the host.
  const url = /^sb:\/\//i.test(endpoint) ? URL.parse(endpoint.replace(/^sb:/i, 'https:')) : null;
  return url === null || url.username !== '' || url.password !== '' ? null : url.hostname.replace(/^\[|\]$/g, '');
}

/** Returns the parts, with names in lower case. Values are base64 and may end in equals signs. */
function partsOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text
      .split(';')
      .map((part) => part.trim())
      .filter((part) => part.includes('='))
      .map((part) => [part.slice(0, part.indexOf('=')).trim().toLowerCase(), part.slice(part.indexOf('=') + 1).trim()]),
  );
}
