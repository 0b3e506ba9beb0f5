// An Event Hubs connection string → the host that it names, or what is wrong with it. Pure.

/** What SASL PLAIN sends as user name beside a connection string (Azure Event Hubs, Kafka: shared access signature). */
export const CONNECTION_STRING_USER = '$ConnectionString';

const SHAPE = 'must be Endpoint=sb://NAMESPACE.servicebus.windows.net/;SharedAccessKeyName=…;SharedAccessKey=…';

/** Says what is wrong without repeating any of it; null where nothing is. */
export function connectionStringFault(text: string): string | null {
  const parts = partsOf(text);
  if (hostOf(parts) === null) return SHAPE;
  if (parts.has('sharedaccesssignature'))
    return 'contains a SharedAccessSignature, which Event Hubs does not accept from Kafka clients: use SharedAccessKeyName and SharedAccessKey';
  return parts.get('sharedaccesskeyname') && parts.get('sharedaccesskey') ? null : SHAPE;
}

/** @param text without a fault */
export function connectionStringHost(text: string): string {
  return hostOf(partsOf(text)) ?? '';
}

function hostOf(parts: ReadonlyMap<string, string>): string | null {
  const endpoint = parts.get('endpoint') ?? '';
  // With this scheme the URL parser would leave the host as it is, and take a path for one.
  const url = /^sb:\/\//i.test(endpoint) ? URL.parse(endpoint.replace(/^sb:/i, 'https:')) : null;
  return url === null || url.username !== '' || url.password !== '' ? null : url.hostname.replace(/^\[|\]$/g, '');
}

/** Keys in lower case; keys are base64 and may end in equals signs. */
function partsOf(text: string): ReadonlyMap<string, string> {
  return new Map(
    text
      .split(';')
      .map((part) => part.trim())
      .filter((part) => part.includes('='))
      .map((part) => [part.slice(0, part.indexOf('=')).trim().toLowerCase(), part.slice(part.indexOf('=') + 1).trim()]),
  );
}
