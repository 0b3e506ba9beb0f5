// `reload`: a running bridge reads its configuration again → what changed, or each fault.
import { BridgeError, messageOf } from '../../errors.ts';
import { loadConfig } from '../config.ts';
import { EXIT, optionText, type Verb, type VerbContext } from '../verb.ts';
import { ACT_OPTIONS, ACT_USAGE, ACT_WORDS, act, show } from './act.ts';

export const reloadVerb: Verb = {
  usage: ACT_USAGE,
  description: `Lets a running bridge read its configuration again, as an admin, and prints the paths that have changed. If the file has a fault, or a change
that needs a restart, it prints each on standard error, exits with 1, and nothing is applied.
${ACT_WORDS}`,
  options: ACT_OPTIONS,
  examples: [
    [
      'scheduled-events-bridge reload --config /etc/scheduled-events-bridge/bridge.yaml',
      'on the machine of the service',
    ],
  ],
  async run(context) {
    const answer = await reloaded(context);
    if (answer === null) return EXIT.failed;
    const { changed } = answer;
    await show(context, answer, [
      changed.length === 0 ? 'reloaded; nothing has changed' : `reloaded; changed: ${changed.join(', ')}`,
    ]);
    return EXIT.fine;
  },
};

/** Returns the answer, or null after a warning: also if faults of the file hide the bridge's address or the token. */
async function reloaded(context: VerbContext): Promise<{ readonly changed: readonly string[] } | null> {
  try {
    return (await act(context, 'POST', '/v1/reload')) as { readonly changed: readonly string[] } | null;
  } catch (error) {
    if (!isFaulty(error)) throw error;
    // All faults of the file, not only those of the sections that are needed here.
    const whole = await loadConfig(context, optionText(context, 'config')).catch((all: unknown) => all);
    context.warn(`nothing was reloaded: ${messageOf(isFaulty(whole) ? whole : error)}`);
    return null;
  }
}

function isFaulty(error: unknown): boolean {
  return error instanceof BridgeError && error.code === 'BRIDGE_CONFIG_INVALID';
}
