// Samples and words of a target, a seed → a hostile input: by grammar, or a mutated sample.
import { below, type Draw, pick } from './draw.ts';

/** No bound of the product for a single text or body that is searched is larger. */
const MOST_BYTES = 64 * 1024;
const MOST_STEPS = 6;
/** Crowds are slow to read and to judge. */
const CROWDED = 0.005;

const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1e400',
  '-1e-400',
  '9007199254740993',
  '1.5',
  '2147483648',
  '1e21',
  '00',
  '+1',
  '0x1',
];
/** Texts that break what reads them: signs of formats, of paths, of patterns, controls, names of prototypes. */
const TEXTS = [
  ...['', ' ', '\0', '\n', '\r\n', '\u2028', '\ufeff', '\ud800', '\udfff', 'İ', '😀', 'e\u0301', '\u202e', '\x1b[2J'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__', 'then', 'length'],
  ...[
    '"',
    "'",
    '\\',
    '\\u',
    '%00',
    '%zz',
    '%ff',
    '{{',
    '}}',
    '{% raw %}',
    '$' + '{x}',
    '|',
    '=',
    ',',
    ';',
    '<![CDATA[',
    '-->',
  ],
  ...['*', '?', '*?*?', '[a-z]+', '(a+)+$', '../../etc/passwd', 'C:\\', 'http://169.254.169.254/', 'javascript:1'],
  ...['null', 'true', 'NaN', 'Infinity', '2026-02-30T25:61:61Z', '9999-12-31T23:59:59Z', '1e3d', '0x7f.1', '::1'],
  ...['&a', '*a', '!!js/function', '!!binary', '<<', '---', '? :', '- - -', '\t', '#', '@', '`'],
];
const WHOLE = [
  '[',
  '{',
  ']',
  '}',
  '[[',
  '{"a":',
  '{},',
  '[],',
  '0,',
  '"',
  '\\"',
  '\\\\',
  '\\u0000',
  ' ',
  '\n',
  'a',
  'é',
];

export interface Material {
  readonly samples: readonly Buffer[];
  /** Names and values of the format, in addition to those of the samples. */
  readonly words?: readonly string[];
  /** JSON by default; `text` and `bytes` are never taken apart as JSON. */
  readonly form?: 'json' | 'text' | 'bytes';
  /** Makes an input of about so many values. A few cases are such crowds, far below and far above a bound. */
  readonly crowd?: { readonly of: (values: number) => Buffer; readonly most: number };
}

export class Generator {
  readonly #material: Material;
  readonly #words: readonly string[];
  readonly #values: readonly unknown[];

  constructor(material: Material) {
    this.#material = material;
    this.#values = material.form === undefined || material.form === 'json' ? material.samples.flatMap(jsonIn) : [];
    const own = new Set(material.words);
    for (const value of this.#values) collectWords(value, own);
    for (const sample of material.samples)
      for (const [word] of sample.toString('latin1').matchAll(/[\w.-]{2,40}/g)) own.add(word);
    this.#words = [...own].slice(0, 500);
  }

  input(draw: Draw): Buffer {
    const way = draw();
    const { crowd } = this.#material;
    if (crowd !== undefined && way >= 1 - CROWDED) return crowd.of(Math.round(crowd.most * pick(draw, [0.5, 1.2, 2])));
    if (this.#values.length > 0 && way < 0.35)
      return this.#written(this.#changed(pick(draw, this.#values), draw), draw);
    if (this.#values.length > 0 && way < 0.5) return this.#written(this.#grown(draw, 4), draw);
    if (way < 0.55) return repeated(draw, [...WHOLE, ...TEXTS, ...this.#words]);
    return this.#mutated(pick(draw, this.#material.samples), draw);
  }

  /** A value with some of its parts replaced, removed, renamed, repeated or moved. */
  #changed(value: unknown, draw: Draw): unknown {
    const copy = structuredClone(value);
    let root: unknown = copy;
    for (let step = 1 + below(draw, 3); step > 0; step--) {
      const parents = containersIn(root);
      if (parents.length === 0) return this.#leaf(draw);
      const parent = pick(draw, parents) as Record<string, unknown>;
      const names = Object.keys(parent);
      const name = names.length === 0 ? '0' : pick(draw, names);
      const way = below(draw, 7);
      if (way === 0) root = this.#without(root, parent, name);
      else if (way === 1) set(parent, this.#name(draw), parent[name]);
      else if (way === 2) set(parent, name, this.#grown(draw, 2));
      else if (way === 3 && Array.isArray(parent)) parent.push(...parent.slice(0, 200));
      else if (way === 4) set(parent, name, [parent[name]]);
      else if (way === 5) set(parent, name, structuredClone(pick(draw, this.#values)));
      else set(parent, name, this.#leaf(draw));
    }
    return root;
  }

  #without(root: unknown, parent: Record<string, unknown>, name: string): unknown {
    if (Array.isArray(parent)) parent.splice(Number(name), 1);
    else delete parent[name];
    return root;
  }

  /** A value by the grammar of JSON, with the words of the samples. */
  #grown(draw: Draw, levels: number): unknown {
    const way = draw();
    if (levels === 0 || way < 0.4) return this.#leaf(draw);
    const count = below(draw, 5);
    if (way < 0.6) return Array.from({ length: count }, () => this.#grown(draw, levels - 1));
    const grown = {};
    for (let member = 0; member < count; member++) set(grown, this.#name(draw), this.#grown(draw, levels - 1));
    return grown;
  }

  #name(draw: Draw): string {
    return draw() < 0.8 && this.#words.length > 0 ? pick(draw, this.#words) : pick(draw, TEXTS);
  }

  #leaf(draw: Draw): unknown {
    const way = draw();
    if (way < 0.1) return pick(draw, [null, true, false]);
    if (way < 0.3) return new RawNumber(pick(draw, NUMBERS));
    if (way < 0.6) return this.#name(draw);
    if (way < 0.7) return pick(draw, TEXTS).repeat(1 + below(draw, 400));
    return pick(draw, TEXTS) + this.#name(draw) + pick(draw, TEXTS);
  }

  /** As JSON, with numbers that JavaScript would change; sometimes with broken bytes. */
  #written(value: unknown, draw: Draw): Buffer {
    const text = JSON.stringify(value) ?? 'null';
    const bytes = Buffer.from(text.replaceAll(/"raw number ([^"]*)"/g, '$1'));
    return (draw() < 0.1 ? this.#mutated(bytes, draw) : bytes).subarray(0, MOST_BYTES);
  }

  #mutated(sample: Buffer, draw: Draw): Buffer {
    let bytes = sample;
    for (let step = 1 + below(draw, MOST_STEPS); step > 0; step--) bytes = this.#step(bytes, draw);
    return bytes.subarray(0, MOST_BYTES);
  }

  #step(bytes: Buffer, draw: Draw): Buffer {
    const at = below(draw, bytes.length + 1);
    const end = Math.min(bytes.length, at + 1 + below(draw, draw() < 0.5 ? 4 : 64));
    const join = (...middle: readonly Uint8Array[]) =>
      Buffer.concat([bytes.subarray(0, at), ...middle, bytes.subarray(end)]);
    switch (below(draw, 8)) {
      case 0: {
        const copy = Buffer.from(bytes);
        if (at < copy.length) copy[at] = (copy[at] ?? 0) ^ (1 << below(draw, 8));
        return copy;
      }
      case 1:
        return join(Buffer.from([below(draw, 256)]));
      case 2:
        return join();
      case 3:
        return bytes.subarray(0, at);
      case 4:
        return join(Buffer.from(draw() < 0.5 ? pick(draw, TEXTS) : this.#name(draw)));
      case 5:
        return join(...Array<Uint8Array>(1 + below(draw, 50)).fill(bytes.subarray(at, end)));
      case 6: {
        const other = pick(draw, this.#material.samples);
        return Buffer.concat([bytes.subarray(0, at), other.subarray(below(draw, other.length + 1))]);
      }
      default:
        return join(repeated(draw, [...WHOLE, pick(draw, TEXTS)]).subarray(0, 4096));
    }
  }
}

/** Written without quotes. */
class RawNumber {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toJSON(): string {
    return `raw number ${this.#text}`;
  }
}

/** One part again and again, perhaps with an end of another kind: what backtracks shows by these. */
function repeated(draw: Draw, parts: readonly string[]): Buffer {
  const part = pick(draw, parts);
  const length = 2 ** below(draw, 17);
  const text = `${pick(draw, parts)}${part.repeat(Math.ceil(length / (part.length || 1)))}${pick(draw, parts)}`;
  return Buffer.from(text).subarray(0, MOST_BYTES);
}

function jsonIn(sample: Buffer): unknown[] {
  try {
    return [JSON.parse(sample.toString())];
  } catch {
    return [];
  }
}

function collectWords(value: unknown, words: Set<string>): void {
  if (typeof value === 'string' && value.length < 100) words.add(value);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value)) words.add(name);
    collectWords(member, words);
  }
}

function containersIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null || value instanceof RawNumber) return [];
  return [value, ...Object.values(value).flatMap(containersIn)];
}

/** As `JSON.parse` does: a member of its own, also with the name `__proto__`. */
function set(parent: object, name: string, value: unknown): void {
  if (Array.isArray(parent)) parent[Math.min(Number(name) || 0, parent.length)] = value;
  else Object.defineProperty(parent, name, { value, enumerable: true, configurable: true, writable: true });
}
