// The instance route's answer → this VM's id, name, source, and what else may be told of it.
import type { BridgeError } from '../errors.ts';
import { isObject, type JsonObject } from '../formats/json-object.ts';
import { VM_FIELDS, type VmMetadata } from '../model/vm-metadata.ts';
import { invalid, parseJsonBody } from './document.ts';

export const INSTANCE_API_VERSION = '2021-02-01';

/** Of one field or tag: it stands in every CloudEvent. Azure allows a tag's name 512 characters. */
const LONGEST_VALUE = 1024;

interface Instance {
  /** In lower case; null where the service gives none. */
  readonly vmId: string | null;
  /** As `Resources` of an event would name this VM; null where the service gives none. */
  readonly name: string | null;
  /** The lower-cased ARM scope (behaviour 3.7): the scale set, else the resource group; null where subscription or resource group are missing. */
  readonly source: string | null;
  /** Whatever of it can be told, chosen or not. */
  readonly vm: VmMetadata;
}

export type InstanceAnswer =
  | ({ readonly kind: 'known' } & Instance)
  /** The route does not exist here. */
  | { readonly kind: 'absent'; readonly status: 404 | 405 }
  | { readonly kind: 'failed'; readonly error: BridgeError };

/** @throws BridgeError BRIDGE_METADATA_INVALID when the body is no instance document */
export function parseInstance(body: Uint8Array): Instance {
  const json = parseJsonBody(body);
  const compute = isObject(json) ? json['compute'] : undefined;
  if (!isObject(compute)) throw invalid('the instance document has no compute object');
  const read = (field: string): string | null => {
    const value = compute[field];
    return typeof value === 'string' && value !== '' ? value.toWellFormed() : null;
  };
  return {
    vmId: read('vmId')?.toLowerCase() ?? null,
    name: read('name'),
    source: scope(read('subscriptionId'), read('resourceGroupName'), read('vmScaleSetName')),
    vm: vmMetadata(compute),
  };
}

function vmMetadata(compute: JsonObject): VmMetadata {
  const fields = VM_FIELDS.map((field) => [field, compute[field]] as const).filter(([, value]) => value !== '' && isTellable(value));
  const listed: readonly unknown[] = Array.isArray(compute['tagsList']) ? compute['tagsList'] : [];
  const tags = listed.filter(isObject).flatMap(({ name, value }) => (isTellable(name) && isTellable(value) ? [[name, value]] : []));
  const told = [...fields, ...(tags.length > 0 ? [['tags', Object.fromEntries(tags)] as const] : [])];
  return Object.fromEntries(told) as VmMetadata;
}

/** Azure's own values are far shorter; what is no text, or breaks UTF-16, is not told. */
function isTellable(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_VALUE && value.isWellFormed();
}

function scope(subscription: string | null, group: string | null, scaleSet: string | null): string | null {
  if (subscription === null || group === null) return null;
  const parts = ['subscriptions', subscription, 'resourcegroups', group];
  if (scaleSet !== null) parts.push('providers', 'microsoft.compute', 'virtualmachinescalesets', scaleSet);
  // A name may hold letters that a URI reference must not.
  return parts.map((part) => `/${encodeURIComponent(part.toLowerCase())}`).join('');
}
