// A webhook receiver → what the adapter contract does to a far side: hang, accept, refuse, leave.
import type { Answer, WebhookReceiver } from '../far-sides/webhook-receiver.ts';
import type { FarSide } from './contract.ts';

type Status = Extract<Answer, { readonly status: number }>;

/** `answer`: how the far side is told what to say from now on. */
export function receiverSwitches(
  receiver: WebhookReceiver,
  answer: (to: Status | 'hang') => void = (to) => {
    receiver.default = to;
  },
): Omit<FarSide, 'options' | 'secrets' | 'arrivals'> {
  let stuckAt = Number.POSITIVE_INFINITY;
  return {
    contacts: () => receiver.connections,
    hang: () => {
      stuckAt = receiver.requests.length + 1;
      answer('hang');
    },
    isStuck: () => receiver.requests.length >= stuckAt,
    stuckBytes: 0,
    accept: () => answer({ status: 204 }),
    refuse: () => answer({ status: 422, body: 'no' }),
    overload: () => answer({ status: 503, headers: { 'retry-after': '7' } }),
    leave: () => receiver.stop(),
    comeBack: () => receiver.start(),
  };
}
