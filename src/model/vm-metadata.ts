// The fields of a VM's instance metadata that may be published: its place, size, names and tags.

/** Members of `compute` that are texts, by their names there. */
export const VM_FIELDS = [
  'location',
  'zone',
  'vmSize',
  'vmId',
  'resourceId',
  'subscriptionId',
  'resourceGroupName',
  'vmScaleSetName',
  'placementGroupId',
  'platformFaultDomain',
  'platformUpdateDomain',
  'priority',
  'evictionPolicy',
  'publisher',
  'offer',
  'sku',
  'version',
  'osType',
  'azEnvironment',
] as const;

type VmField = (typeof VM_FIELDS)[number];

/** A field that the service does not give, or gives empty, is absent. */
export type VmMetadata = Readonly<Partial<Record<VmField, string>>> & {
  /** Values by the tags' names. */
  readonly tags?: Readonly<Record<string, string>>;
};
