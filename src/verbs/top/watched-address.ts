// --bridge, --bridges and their tokens → the bridges that `top` watches.
import { messageOf } from '../../errors.ts';
import { fileReadFault, readRegularFile } from '../../secrets/regular-file.ts';
import { authorization, bridgeUrl, DEFAULT_BRIDGE } from '../bridge/bridge-client.ts';
import { optionText, optionTexts, usageError, type VerbContext } from '../verb.ts';

/** The address of a bridge, and how `top` authenticates there. */
export interface WatchedAddress {
  readonly url: URL;
  /** With the token, if there is one. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the bridges that the options name, each once; the default bridge if they name none.
 * @throws BridgeError BRIDGE_USAGE for a URL, a file or a token that cannot be used
 */
export function watchedAddresses(context: VerbContext): readonly WatchedAddress[] {
  const file = optionText(context, 'bridges');
  const named = optionTexts(context, 'bridge').map((url) => addressOf(context, url));
  const listed = file === undefined ? [] : addressesIn(context, file);
  const isAlone = named.length + listed.length === 0 && optionText(context, 'kubernetes') === undefined;
  const all = isAlone ? [addressOf(context, DEFAULT_BRIDGE)] : [...named, ...listed];
  return [...new Map(all.map((address) => [address.url.href, address])).values()];
}

/** Returns a bridge with the token of --token-env, if it is given. @throws BridgeError BRIDGE_USAGE */
export function addressOf(context: VerbContext, bridge: string): WatchedAddress {
  const url = bridgeUrl(context, bridge, '/');
  return { url, headers: optionText(context, 'token-env') === undefined ? {} : authorization(context) };
}

function addressesIn(context: VerbContext, file: string): readonly WatchedAddress[] {
  const addresses = textOf(file)
    .split('\n')
    .map((line, index) => [line.trim(), index + 1] as const)
    .filter(([line]) => line !== '' && !line.startsWith('#'))
    .map(([line, number]) => {
      try {
        return addressIn(context, line);
      } catch (error) {
        throw usageError(`--bridges ${file}, line ${number}: ${messageOf(error)}`, error);
      }
    });
  if (addresses.length === 0) throw usageError(`--bridges ${file} names no bridge: write one URL a line`);
  return addresses;
}

/** @param line a URL and, after blanks, perhaps the name of the variable with its token */
function addressIn(context: VerbContext, line: string): WatchedAddress {
  const [url = '', variable, ...more] = line.replaceAll('\t', ' ').split(' ').filter(Boolean);
  if (more.length > 0) throw usageError('write a URL and, if it has its own token, the name of its variable');
  const values = variable === undefined ? context.values : { ...context.values, 'token-env': variable };
  return addressOf({ ...context, values }, url);
}

function textOf(file: string): string {
  try {
    return readRegularFile(file);
  } catch (error) {
    throw usageError(`--bridges ${file} ${fileReadFault(error)}`, error);
  }
}
