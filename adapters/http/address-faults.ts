// Options with literal addresses as targets → faults for those that no connection may use.
import { type AddressVerdict, addressJudge, judgeLiteral } from '../../src/net/private-addresses.ts';
import type { OptionFault } from '../../src/schema/faults.ts';
import { reveal } from '../../src/secrets/secret.ts';
import { type HttpOptions, urlOf } from './http-options.ts';

const MESSAGES: Readonly<Record<Exclude<AddressVerdict, 'allowed'>, string>> = {
  metadata: 'is an address of the metadata service, which the bridge never sends events to: correct it',
  private: 'is not a public address: correct it, or list the range in allowPrivate if you trust it',
};

/** The faults of literal addresses. The secrets must be open. Names are checked when they are resolved; see target-guard.ts. */
export function addressFaults(options: HttpOptions): readonly OptionFault[] {
  const { oauth2, allowPrivate } = options;
  const { key, value } = urlOf(options);
  const judge = addressJudge(allowPrivate);
  const targets = [{ key, text: reveal(value) }, ...(oauth2 ? [{ key: 'oauth2.tokenUrl', text: oauth2.tokenUrl }] : [])];
  return targets.flatMap(({ key: named, text }) => {
    const target = URL.parse(text);
    const verdict = target === null ? 'allowed' : judgeLiteral(target, judge);
    return verdict === 'allowed' ? [] : [{ key: named, message: MESSAGES[verdict] }];
  });
}
