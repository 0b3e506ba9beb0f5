// `pause`, and `resume` of a running bridge: the name of a sink → its new state.
import { EXIT, oneWord, type Verb, type VerbContext } from '../verb.ts';
import { ACT_OPTIONS, ACT_USAGE, ACT_WORDS, act, show } from './act.ts';
import { sinkLines } from './status-screen.ts';
import type { ShownSink } from './status-view.ts';

export const pauseVerb: Verb = {
  usage: `SINK ${ACT_USAGE}`,
  takesWords: true,
  description: `Stops deliveries to a sink, as an admin, until \`resume\`. Its queue keeps growing, and nothing in it expires. The pause lasts over restarts.
${ACT_WORDS}`,
  options: ACT_OPTIONS,
  examples: [
    [
      'scheduled-events-bridge pause hooks --config /etc/scheduled-events-bridge/bridge.yaml',
      'while its receiver is repaired',
    ],
  ],
  run: (context) => changeSink(context, 'pause'),
};

/** Pauses or resumes the sink that the command line names, at a running bridge. Returns the exit code. */
export async function changeSink(context: VerbContext, what: 'pause' | 'resume'): Promise<number> {
  const sink = oneWord(context, 'sink');
  const answer = (await act(context, 'POST', `/v1/sinks/${encodeURIComponent(sink)}/${what}`)) as ShownSink | null;
  if (answer === null) return EXIT.failed;
  const rows = sinkLines([answer], context.deps.wallMs());
  await show(
    context,
    answer,
    rows.map(({ text }) => text.trim()),
  );
  return EXIT.fine;
}
