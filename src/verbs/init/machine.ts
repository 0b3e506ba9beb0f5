// The machine and its instance metadata → what this machine is, in words; its own service manager.
import { existsSync } from 'node:fs';
import { metadataClient } from '../metadata-service.ts';
import type { VerbContext } from '../verb.ts';

/** A VM answers in milliseconds; elsewhere nothing answers at this address. */
export const PATIENCE_MS = 5000;

export type Platform = 'kubernetes' | 'systemd' | 'windows' | 'other';

export function platformOf({ env }: Pick<VerbContext, 'env'>): Platform {
  if (env['KUBERNETES_SERVICE_HOST'] !== undefined) return 'kubernetes';
  if (process.platform === 'win32') return 'windows';
  return existsSync('/run/systemd/system') ? 'systemd' : 'other';
}

const SURROUNDINGS: Readonly<Record<Platform, string>> = {
  kubernetes: ', in a pod of Kubernetes',
  systemd: ', with systemd',
  windows: ', with Windows',
  other: '',
};

/** Returns `the VM web_0 of the scale set web, with systemd`. Contacts only `endpoint`. */
export async function describeMachine(context: VerbContext, endpoint: string): Promise<string> {
  return `${await nameOf(context, endpoint)}${SURROUNDINGS[platformOf(context)]}`;
}

async function nameOf(context: VerbContext, endpoint: string): Promise<string> {
  const client = metadataClient(context, endpoint, PATIENCE_MS);
  try {
    const answer = await client.instance(context.signal);
    if (answer.kind !== 'known' || answer.name === null) return 'a machine whose instance metadata do not name it';
    const { vmScaleSetName } = answer.vm;
    return `the VM ${answer.name}${vmScaleSetName === undefined ? '' : ` of the scale set ${vmScaleSetName}`}`;
  } finally {
    client.close();
  }
}
