// The answer of the instance route → this VM's id, name, source and metadata for CloudEvents.
import type { BridgeError } from '../errors.ts';
import { isObject, type JsonObject } from '../formats/json-object.ts';
import { VM_FIELDS, type VmMetadata } from '../model/vm-metadata.ts';
import { invalid, parseJsonBody } from './document.ts';

export const INSTANCE_API_VERSION = '2021-02-01';

/**
 * Characters of one field or tag, because each CloudEvent contains it. Azure allows 512 characters for a tag's name.
 */
const LONGEST_VALUE = 1024;

interface Instance {
  /** In lower case; null if absent. */
  readonly vmId: string | null;
  /** The name of this VM in `Resources` of events; null if absent. */
  readonly name: string | null;
  /**
   * The ARM scope in lower case (behaviour 3.7): the scale set, or the resource group; null without subscription or
   * resource group.
   */
  readonly source: string | null;
  /** All fields that CloudEvents may contain, whether selected or not. */
  readonly vm: VmMetadata;
}

export type InstanceAnswer =
  | ({ readonly kind: 'known' } & Instance)
  /** The route does not exist here. */
  | { readonly kind: 'absent'; readonly status: 404 | 405 }
  | { readonly kind: 'failed'; readonly error: BridgeError };

/** @throws BridgeError BRIDGE_METADATA_INVALID if the body is not an instance document */
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
  const fields = VM_FIELDS.map((field) => [field, compute[field]] as const).filter(
    ([, value]) => value !== '' && isUsable(value),
  );
  const listed: readonly unknown[] = Array.isArray(compute['tagsList']) ? compute['tagsList'] : [];
  const tags = listed
    .filter(isObject)
    .flatMap(({ name, value }) => (isUsable(name) && isUsable(value) ? [[name, value]] : []));
  const entries = [...fields, ...(tags.length > 0 ? [['tags', Object.fromEntries(tags)] as const] : [])];
  return Object.fromEntries(entries) as VmMetadata;
}

/** Whether it is a string of well-formed UTF-16 within the limit; Azure's own values are far shorter. */
function isUsable(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_VALUE && value.isWellFormed();
}

function scope(subscription: string | null, group: string | null, scaleSet: string | null): string | null {
  if (subscription === null || group === null) return null;
  const parts = ['subscriptions', subscription, 'resourcegroups', group];
  if (scaleSet !== null) parts.push('providers', 'microsoft.compute', 'virtualmachinescalesets', scaleSet);
  // A name may contain characters that are not allowed in a URI reference.
  return parts.map((part) => `/${encodeURIComponent(part.toLowerCase())}`).join('');
}
