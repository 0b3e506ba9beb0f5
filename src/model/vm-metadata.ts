// What of a VM's instance metadata may be told: what places, sizes or names it, and its tags.

/** Members of `compute` that are texts, by their own names. */
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

/** What the service does not give, or leaves empty, is absent. */
export type VmMetadata = Readonly<Partial<Record<VmField, string>>> & {
  /** Values by the tags' names. */
  readonly tags?: Readonly<Record<string, string>>;
};
