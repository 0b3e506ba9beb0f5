// A test → a namespace on loopback that speaks TLS, and a sink that trusts its authority.
import type { TestContext } from 'node:test';
import { CertificateAuthority } from '../../far-sides/certificate-authority.ts';
import { type ServiceBus, type ServiceBusSetup, startServiceBus } from './start-service-bus.ts';

export interface Secured extends ServiceBusSetup {
  /** Of the certificate. */
  readonly name?: string;
  readonly expired?: boolean;
  /** Whether the sink trusts its authority; default true. */
  readonly trusted?: boolean;
}

/** As `startServiceBus`, with TLS by an authority of its own. */
export async function secured(
  t: TestContext,
  { name = 'IP:127.0.0.1', expired = false, trusted = true, ...setup }: Secured = {},
): Promise<ServiceBus> {
  const authority = await CertificateAuthority.create(t);
  const { cert, key } = await authority.issue(name, { expired });
  const own = trusted ? { tls: { ca: authority.file } } : {};
  const { options } = setup;
  return await startServiceBus(t, {
    ...setup,
    server: { tls: { cert, key }, ...setup.server },
    options: (server) => ({ ...own, ...(typeof options === 'function' ? options(server) : options) }),
  });
}
