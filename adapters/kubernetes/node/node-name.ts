// The name of a VM ↔ what Kubernetes knows of it: the name of its node, its providerID. Pure.

/** An instance of a scale set: `aks-pool-12345678-vmss_150`. */
const INSTANCE = /^(.+)_(\d{1,18})$/;
/** As the Azure cloud provider writes it, of an instance of a scale set or a VM of its own. */
const PROVIDER_ID = /^azure:\/\/.*\/providers\/microsoft\.compute\/(?:virtualmachinescalesets\/([^/]+)\/)?virtualmachines\/([^/]+)$/i;

/**
 * The name that the VM of this name has as a computer, and AKS's nodes after it: `aks-pool-12345678-vmss000046`, the id of the instance in
 * base 36 and six digits (learn.microsoft.com, "Understand instance IDs for Azure VM Scale Set VMs"). A VM of its own keeps its name.
 */
export function nodeNameOf(vm: string): string {
  const [, scaleSet = '', instance = ''] = INSTANCE.exec(vm) ?? [];
  const name = scaleSet === '' ? vm : `${scaleSet}${BigInt(instance).toString(36).padStart(6, '0')}`;
  return name.toLowerCase();
}

/** Whether one of these VMs has the name that makes it this node. */
export function namesNode(vms: readonly string[], node: string): boolean {
  return vms.some((vm) => nodeNameOf(vm) === node);
}

/** In lower case; null where the providerID is not one of Azure. */
export function vmOfProviderId(providerId: string): string | null {
  const [, scaleSet, vm] = PROVIDER_ID.exec(providerId) ?? [];
  if (vm === undefined) return null;
  return (scaleSet === undefined ? vm : `${scaleSet}_${vm}`).toLowerCase();
}
