// The verbs with their options → the completion script of a shell, and the verb that prints it.
import { EXIT, type Verb, type VerbOption, type VerbTable } from '../verb.ts';
import { oneOf } from './command-line.ts';
import { COMMAND } from './help.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** @param verbs all verbs, with this one */
export function completionVerb(verbs: VerbTable): Verb {
  return {
    usage: SHELLS.join('|'),
    takesWords: true,
    words: SHELLS,
    description: `The script completes verbs, options and file names. The .deb and .rpm packages install it for all three shells.`,
    options: {},
    examples: [
      ['source <(scheduled-events-bridge completion bash)', 'in ~/.bashrc; for zsh in ~/.zshrc, after compinit'],
      ['scheduled-events-bridge completion fish > ~/.config/fish/completions/scheduled-events-bridge.fish', 'for fish'],
    ],
    async run(context) {
      await context.print((await completionScript(oneOf(context, SHELLS), verbs)).trimEnd());
      return EXIT.fine;
    },
  };
}

/** What a script completes after one verb. */
interface Completed {
  readonly name: string;
  readonly summary: string;
  /** The first words that the verb takes; empty if they are free, such as an EventId. */
  readonly words: readonly string[];
  readonly options: readonly CompletedOption[];
}

interface CompletedOption extends Omit<VerbOption, 'names'> {
  readonly name: string;
  /** Names that the value may have; empty if there are none. */
  readonly names: readonly string[];
  readonly takesFile: boolean;
}

/** Returns the completion script of a shell. */
export async function completionScript(shell: Shell, verbs: VerbTable): Promise<string> {
  const names = Object.keys(verbs);
  const completed = await Promise.all(
    Object.entries(verbs).map(async ([name, { summary, load }]): Promise<Completed> => {
      const { options, words = [] } = await load();
      return { name, summary, words, options: await Promise.all(Object.entries(options).map(completedOption)) };
    }),
  );
  const help = { name: 'help', summary: 'describes a verb and its options', words: names, options: [] };
  return { bash, zsh, fish }[shell]([...completed, help]);
}

async function completedOption([name, option]: [string, VerbOption]): Promise<CompletedOption> {
  const names = (await option.names?.()) ?? [];
  return { ...option, name, names, takesFile: option.value?.split('|').includes('FILE') ?? false };
}

function bash(verbs: readonly Completed[]): string {
  const values = verbs.flatMap(({ name, options }) =>
    options
      .filter(({ type }) => type === 'string')
      .map((option) => ({ pattern: `'${name} --${option.name}'`, takesFile: option.takesFile, names: option.names })),
  );
  const patterns = (takesFile: boolean) =>
    values.filter((value) => value.takesFile === takesFile && value.names.length === 0).map(({ pattern }) => pattern);
  // The value of an option with names may be a file, too.
  const named = values
    .filter(({ names }) => names.length > 0)
    .map(
      ({ pattern, names }) => `    ${pattern})
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -W '${names.join(' ')}' -- "$word"; compgen -f -- "$word")
      return ;;
`,
    );
  const cases = verbs.map(
    ({ name, words, options }) =>
      `    ${name}) words='${[...words, ...options.map((option) => `--${option.name}`), '--help'].join(' ')}' ;;`,
  );
  return `# bash completion for ${COMMAND}
_scheduled_events_bridge() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" words=
  # In --option=value, bash takes the sign for a word.
  if [[ $word == '=' ]]; then word=
  elif [[ $before == '=' ]]; then before="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W '${verbs.map(({ name }) => name).join(' ')} --help --version' -- "$word")
    return
  fi
  case "\${COMP_WORDS[1]} $before" in
${named.join('')}    ${patterns(true).join('|\\\n    ')})
      compopt -o filenames
      mapfile -t COMPREPLY < <(compgen -f -- "$word")
      return ;;
    ${patterns(false).join('|\\\n    ')})
      return ;;
  esac
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _scheduled_events_bridge ${COMMAND}
`;
}

function zsh(verbs: readonly Completed[]): string {
  const described = verbs.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`);
  const cases = verbs.map(({ name, words, options }) => {
    const specs = [
      ...options.map(zshOption),
      "'--help[shows the options of the verb]'",
      words.length > 0 ? `'1:word:(${words.join(' ')})'` : '',
    ];
    return `    ${name}) _arguments ${specs.filter((spec) => spec !== '').join(' \\\n      ')} ;;`;
  });
  return `#compdef ${COMMAND}
_scheduled-events-bridge() {
  local -a verbs
  verbs=(
${described.join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe verb verbs
    return
  fi
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
${cases.join('\n')}
  esac
}
if [ "$funcstack[1]" = _scheduled-events-bridge ]; then
  _scheduled-events-bridge "$@"
else
  compdef _scheduled-events-bridge ${COMMAND}
fi
`;
}

function zshOption({ name, multiple, help, value, takesFile, names }: CompletedOption): string {
  const special = help.replaceAll('\\', '\\\\').replaceAll('[', '\\[').replaceAll(']', '\\]').replaceAll(':', '\\:');
  const files = takesFile ? '_files' : '';
  const action = names.length === 0 ? files : `{compadd ${names.join(' ')}; ${files}}`;
  const argument = value === undefined ? '' : `:${value.replaceAll(':', '\\:')}:${action}`;
  return quoted(`${multiple === true ? '*' : ''}--${name}[${special}]${argument}`);
}

function fish(verbs: readonly Completed[]): string {
  const lines = verbs.flatMap(({ name, summary, words, options }) => {
    const after = `-n ${fishQuoted(`__fish_seen_subcommand_from ${name}`)}`;
    const first = `-n ${fishQuoted(`__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words.join(' ')}`)}`;
    return [
      `complete -c ${COMMAND} -n __fish_use_subcommand -a ${name} -d ${fishQuoted(summary)}`,
      ...(words.length > 0 ? [`complete -c ${COMMAND} ${first} -a ${fishQuoted(words.join(' '))}`] : []),
      ...options.map(
        (option) =>
          `complete -c ${COMMAND} ${after} -l ${option.name} ${fishValue(option)}-d ${fishQuoted(option.help)}`,
      ),
    ];
  });
  return `# fish completion for ${COMMAND}
complete -c ${COMMAND} -f
complete -c ${COMMAND} -l help -d 'shows the options of the verb'
complete -c ${COMMAND} -n __fish_use_subcommand -l version -d 'prints the version'
${lines.join('\n')}
`;
}

function fishValue({ type, takesFile, names }: CompletedOption): string {
  if (type === 'boolean') return '';
  return `${takesFile ? '-r -F ' : '-x '}${names.length > 0 ? `-a ${fishQuoted(names.join(' '))} ` : ''}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function fishQuoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
