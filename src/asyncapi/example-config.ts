// The sink types → a configuration with one sink and one source of each type at a broker or URL.
import type { AdapterDefinition } from '../../adapters/adapter.ts';
import { checkConfig, configError } from '../config/check-config.ts';
import type { DescribedConfig } from './document.ts';

/** The documented examples. */
const FILE = {
  version: 1,
  approvals: {
    approvers: { orders: {} },
    sources: {
      kafka: { type: 'kafka', brokers: ['kafka.example.com:9092'], topic: 'maintenance-approvals', approver: 'orders' },
      'service-bus': {
        type: 'service-bus',
        namespace: 'example.servicebus.windows.net',
        queue: 'maintenance-approvals',
        approver: 'orders',
      },
    },
  },
  sinks: {
    kafka: { type: 'kafka', brokers: ['kafka.example.com:9092'], topic: 'maintenance' },
    'service-bus': { type: 'service-bus', namespace: 'example.servicebus.windows.net', topic: 'maintenance' },
    webhook: { type: 'webhook', url: 'https://hooks.example.com/maintenance' },
  },
};

/**
 * Returns the configuration for a document without a file.
 * @throws BridgeError BRIDGE_CONFIG_INVALID if a type is missing
 */
export function exampleConfig(adapters: readonly AdapterDefinition<unknown>[]): DescribedConfig {
  const readFile = () => {
    throw new Error('the example names no file');
  };
  const checked = checkConfig(FILE, { adapters, env: {}, directory: '.', readFile, exposureOf: () => null });
  if ('faults' in checked) throw configError(checked.faults);
  return checked.options;
}
