// A terminal and the checks of each answer → the answers of a person to the questions of `init`.
import { createInterface } from 'node:readline/promises';
import { visibleLine } from '../../formats/visible-text.ts';
import { LINK_LOCAL_ENDPOINT } from '../../metadata/discovery.ts';
import { isEndpoint } from '../../metadata/options.ts';
import type { VerbContext } from '../verb.ts';
import type { Answers } from './config-text.ts';
import { type SinkEntry, sinkForms } from './sink-forms.ts';

export interface Trials {
  /** Returns what is known of the machine, in words. Contacts only this endpoint. */
  readonly machine: (endpoint: string) => Promise<string>;
  /** Returns the entry of a sink, or the fault in its text. */
  readonly entry: (text: string) => SinkEntry | string;
  /** Returns what is wrong with the configuration that these answers give, or null. */
  readonly fault: (answers: Answers) => Promise<string | null>;
  /** Tries the newest sink. Returns why it cannot be reached, or null. */
  readonly unreachable: (answers: Answers) => Promise<string | null>;
}

/** The person ended the input before the last question. */
export class DialogEnded extends Error {}

const NOTHING: Answers = { endpoint: null, listen: null, store: null, console: false, sinks: [], approvers: [] };

/**
 * Asks on standard error and reads standard input, so that standard output holds the configuration alone.
 * @throws DialogEnded at Ctrl-C and at the end of the input
 */
export async function ask(context: VerbContext, trials: Trials): Promise<Answers & { readonly machine: string }> {
  const { stdin: input, stderr: output, signal } = context;
  const lines = createInterface({ input, output });
  const ended = Promise.withResolvers<never>();
  // Without this, Ctrl-D leaves the question open.
  lines.on('close', () => ended.reject(new DialogEnded()));
  ended.promise.catch(() => {});
  const question = async (text: string) =>
    (await Promise.race([lines.question(text, { signal }), ended.promise])).trim();
  const say = (text: string) => context.warn(text);
  try {
    const endpoint = await endpointFrom(question, say);
    const machine = await trials.machine(endpoint);
    say(visibleLine(`This is ${machine}.`));
    let answers: Answers = { ...NOTHING, endpoint };
    answers = await sinksFrom(answers, trials, { question, say });
    answers = await approversFrom(answers, trials, { question, say });
    const isWanted = await yes(question, 'Serve the console, a web page for operators, at http://127.0.0.1:8700/?');
    return { ...answers, console: isWanted, machine };
  } finally {
    lines.close();
  }
}

type Question = (text: string) => Promise<string>;

interface Talk {
  readonly question: Question;
  readonly say: (text: string) => void;
}

async function endpointFrom(question: Question, say: Talk['say']): Promise<string> {
  for (;;) {
    const given = (await question(`Address of the metadata service [${LINK_LOCAL_ENDPOINT}]: `)) || LINK_LOCAL_ENDPOINT;
    if (isEndpoint(given) && given !== 'discover') return new URL(given).origin;
    say('That is not an http URL with only host and port, such as http://127.0.0.1:8080.');
  }
}

async function sinksFrom(given: Answers, trials: Trials, { question, say }: Talk): Promise<Answers> {
  say('Which sinks should get CloudEvents? Give one of these at a time, and an empty line after the last one.');
  for (const [form, purpose] of sinkForms()) say(`  ${form.padEnd(28)}${purpose}`);
  let answers = given;
  for (;;) {
    const text = await question(answers.sinks.length === 0 ? 'Sink [stdout]: ' : 'Another sink: ');
    if (text === '' && answers.sinks.length > 0) return answers;
    const entry = trials.entry(text === '' ? 'stdout' : text);
    const next = typeof entry === 'string' ? null : { ...answers, sinks: [...answers.sinks, entry] };
    const fault = next === null ? String(entry) : await trials.fault(next);
    if (next === null || fault !== null) {
      say(visibleLine(`Not added: ${fault}`));
      continue;
    }
    const unreachable = await trials.unreachable(next);
    say(unreachable === null ? 'It can be reached.' : visibleLine(`It cannot be reached now: ${unreachable}`));
    if (unreachable === null || (await yes(question, 'Add it anyway?'))) answers = next;
  }
}

async function approversFrom(given: Answers, trials: Trials, { question, say }: Talk): Promise<Answers> {
  say('Who may approve a maintenance, so that it starts at once? Give one name at a time, such as orders; an empty');
  say(
    'line after the last one. Each gets a file with a token. Without approvers, Azure starts each event at its time.',
  );
  let answers = given;
  for (;;) {
    const name = await question('Approver: ');
    if (name === '') return answers;
    const next = { ...answers, approvers: [...new Set([...answers.approvers, name])] };
    const fault = await trials.fault(next);
    if (fault === null) answers = next;
    else say(visibleLine(`Not added: ${fault}`));
  }
}

async function yes(question: Question, text: string): Promise<boolean> {
  return ['y', 'yes'].includes((await question(`${text} [y/N] `)).toLowerCase());
}
