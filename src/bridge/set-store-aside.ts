// The store of another VM → set aside in a folder, with nothing of it sent any more.
import type { Logger } from 'pino';
import type { Outbox } from '../outbox/outbox.ts';
import type { Sinks } from './sinks.ts';

/** The sinks are closed then. */
export async function setStoreAside(vmId: string, sinks: Sinks, outbox: Outbox, logger: Logger): Promise<void> {
  await sinks.close(0);
  const folder = outbox.setAside(`vmId is ${vmId} now`);
  logger.warn(
    { area: 'store', folder },
    'the store was of another VM, as in a copied disk image: it is set aside in this folder, and nothing of it is compared or sent',
  );
}
