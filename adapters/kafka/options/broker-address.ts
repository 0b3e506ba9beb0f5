// One broker's text (`host:port`) → its host and port, or its fault. Pure.

import { isIP, isIPv6 } from 'node:net';
import { urlHost } from '../../../src/formats/url-host.ts';
import { isMetadataAddress } from '../../../src/net/private-addresses.ts';

export interface Broker {
  /** A name or an IP address, IPv6 without brackets. */
  readonly host: string;
  /** Null if the text has none. */
  readonly port: number | null;
}

const EXAMPLE = 'must be host:port, such as localhost:9092 or [::1]:9092';
const HOST = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i;
/** The DNS suffixes of Event Hubs namespaces in Azure's clouds. */
const EVENT_HUBS = /\.servicebus\.(windows\.net|chinacloudapi\.cn|usgovcloudapi\.net|cloudapi\.de)\.?$/i;

export function isEventHubsHost(host: string): boolean {
  return EVENT_HUBS.test(host);
}

/** Returns the fault of a broker's text, or null. */
export function brokerFault(text: string): string | null {
  if (text.includes('://')) return 'must be only host:port, without a scheme: configure TLS and SASL with ssl and sasl';
  if (text.includes(',')) return 'contains several brokers: write each as a separate list entry';
  const parts = split(text);
  if (parts === null) return isIPv6(text) || /:.*:/.test(text) ? `${EXAMPLE}: an IPv6 address needs brackets` : EXAMPLE;
  const { host, port } = parts;
  if (port !== null && (port === 0 || port > 65_535)) return `${EXAMPLE}: the port must be between 1 and 65535`;
  if (isMetadataAddress(host)) return 'is an address of the metadata service, which is not a broker';
  return null;
}

/** Parses a text without a fault. */
export function parseBroker(text: string): Broker {
  return split(text) ?? { host: text, port: null };
}

/** Formats a broker: `[::1]:9092`. */
export function showBroker({ host, port }: Broker): string {
  return port === null ? urlHost(host) : `${urlHost(host)}:${port}`;
}

function split(text: string): Broker | null {
  const match = /^(?:\[([^\]%]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/.exec(text);
  const [, bracketed, plain, port] = match ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || (bracketed !== undefined ? !isIPv6(bracketed) : !isIP(host) && !HOST.test(host)))
    return null;
  // Digits and dots that are not an address are a typing error, not a name.
  if (/^[\d.]+$/.test(host) && !isIP(host)) return null;
  return { host, port: port === undefined ? null : Number(port) };
}
