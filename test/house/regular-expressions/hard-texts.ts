// A regular expression → its own parts, repeated: texts that take it long unless it is linear.
import { type AST, RegExpParser } from '@eslint-community/regexpp';

/**
 * Signs that single-character parts may match, and those that few do: as ends of a text they make a match fail late.
 */
const SIGNS = [...'aAzZ0 -_.:/\\"\'=,;%@!?*+()[]{}<>|&#$^~`\t\n\r\0é\u2028'];
const ENDS = ['', '!', '\n', '\0', 'x', ' '];

/** A text of about this length; of more if it repeats a long part, which a match can begin at less often. */
export type HardText = (length: number) => string;

/** For each part that may be repeated, alone and with what stands before it, and for the whole: with each of some ends. */
export function hardTexts(source: string, flags: string): readonly HardText[] {
  const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
    unicode: flags.includes('u'),
    unicodeSets: flags.includes('v'),
  });
  const texts: HardText[] = [];
  const add = (before: string, repeated: string, after: string) => {
    if (repeated === '') return;
    const times = (length: number) =>
      Math.ceil((length * Math.min(8, Math.max(1, repeated.length / 4))) / repeated.length);
    for (const end of new Set([...ENDS, after]))
      texts.push((length) => `${before}${repeated.repeat(times(length))}${end}`);
  };
  const sample = (node: AST.Node) => sampleOf(node, flags);
  const visit = (alternatives: readonly AST.Alternative[], before: string) => {
    for (const { elements } of alternatives) {
      let so = before;
      for (const [index, element] of elements.entries()) {
        const after = elements
          .slice(index + 1)
          .map(sample)
          .join('');
        if (element.type === 'Quantifier' && element.max > 1) {
          for (const variant of variantsOf(element.element, flags)) {
            add(so, variant, after);
            add('', so + variant, after);
            add(so, variant + after, '');
          }
        }
        for (const inner of alternativesIn(element)) visit([inner], so);
        so += sample(element);
      }
      add('', so, '');
      add('', so.slice(0, -1), '');
    }
  };
  visit(pattern.alternatives, '');
  return texts;
}

function alternativesIn(node: AST.Element): readonly AST.Alternative[] {
  if (node.type === 'Quantifier') return alternativesIn(node.element);
  return 'alternatives' in node ? node.alternatives : [];
}

/** A sample of each of its alternatives. */
function variantsOf(node: AST.Element, flags: string): readonly string[] {
  const inner = alternativesIn(node);
  return inner.length === 0
    ? [sampleOf(node, flags)]
    : inner.map(({ elements }) => elements.map((each) => sampleOf(each, flags)).join(''));
}

/** A short text that it matches, as far as that can be said of it alone. */
function sampleOf(node: AST.Node, flags: string): string {
  switch (node.type) {
    case 'Character':
      return String.fromCodePoint(node.value);
    case 'CharacterSet':
    case 'CharacterClass':
    case 'ExpressionCharacterClass': {
      const isSign = new RegExp(`^${node.raw}$`, flags.replace(/[gy]/g, ''));
      return SIGNS.find((sign) => isSign.test(sign)) ?? '';
    }
    case 'Quantifier':
      return sampleOf(node.element, flags).repeat(Math.max(1, node.min));
    case 'Group':
    case 'CapturingGroup':
      return (node.alternatives[0]?.elements ?? []).map((each) => sampleOf(each, flags)).join('');
    default:
      return '';
  }
}
