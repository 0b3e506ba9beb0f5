// The arguments of a verb → its options and words, or what is wrong and what was probably meant.
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { messageOf } from '../../errors.ts';
import { nearest } from '../../schema/faults.ts';
import { usageError, type Verb, type VerbContext } from '../verb.ts';

/** The options and words of one command line. */
interface CommandLine {
  readonly values: Record<string, string | boolean | undefined>;
  readonly positionals: string[];
}

/** @throws BridgeError BRIDGE_USAGE for an unknown option, a missing value, or a word if the verb takes none */
export function parseCommandLine(verb: Verb, args: readonly string[]): CommandLine {
  const options = optionsOf(verb);
  try {
    return parseArgs({
      args: [...args],
      options,
      allowPositionals: verb.takesWords ?? false,
      strict: true,
    }) as CommandLine;
  } catch (error) {
    throw usageError(unknownOption(args, options) ?? messageOf(error), error);
  }
}

function optionsOf({ options }: Verb): ParseArgsOptionsConfig {
  const own = Object.entries(options).map(([name, { type, multiple = false }]) => [name, { type, multiple }] as const);
  return { ...Object.fromEntries(own), help: { type: 'boolean', short: 'h' } };
}

/** Names the first option that the verb does not have, without its value. Returns null if it has all of them. */
function unknownOption(args: readonly string[], options: ParseArgsOptionsConfig): string | null {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const unknown = tokens.find((token) => token.kind === 'option' && !Object.hasOwn(options, token.name));
  if (unknown?.kind !== 'option') return null;
  const meant = nearest(unknown.name, Object.keys(options));
  return `unknown option ${unknown.rawName}${didYouMean(meant && `--${meant}`) || '; see --help'}`;
}

function didYouMean(meant: string | undefined): string {
  return meant === undefined ? '' : `; did you mean ${meant}?`;
}

/** Returns what is wrong with the name of a verb. */
export function unknownVerb(name: string, known: readonly string[]): string {
  return `unknown verb "${name}"${didYouMean(nearest(name, known))}`;
}

/** Returns the first word of a verb that takes one of `known`. @throws BridgeError BRIDGE_USAGE for another one */
export function oneOf<Word extends string>({ positionals: [given] }: VerbContext, known: readonly Word[]): Word {
  const found = known.find((word) => word === given);
  if (found !== undefined) return found;
  const other = given === undefined ? '' : `, not "${given}"${didYouMean(nearest(given, known))}`;
  throw usageError(`the first word must be one of ${known.join(', ')}${other}`);
}
