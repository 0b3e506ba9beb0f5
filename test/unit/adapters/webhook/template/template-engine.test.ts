// Liquid templates → what is escaped, which filters and tags there are, what is out of reach.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { Liquid } from 'liquidjs';
import { compile, type Rendered, type Template } from '../../../../../adapters/webhook/template/template-engine.ts';

const SCOPE = {
  id: 'an-id',
  data: {
    text: 'a "quoted"\n\\ text & <more> 😀',
    list: ['a', 'b"', 3, null],
    object: { a: [1, 'x"'] },
    empty: '',
    nothing: null,
    number: 5,
    yes: true,
    time: '2022-04-11T22:26:58Z',
  },
};

function template(text: string, json = true): Template {
  const compiled = compile(text, json);
  return 'fault' in compiled ? assert.fail(compiled.fault) : compiled;
}

function text(rendered: Rendered): string {
  return 'fault' in rendered ? assert.fail(rendered.fault) : rendered.text;
}

const shown = (source: string, json = true) => text(template(source, json).render(SCOPE));

const ESCAPES: readonly (readonly [template: string, json: string, plain: string])[] = [
  ['{{ data.text }}', 'a \\"quoted\\"\\n\\\\ text & <more> 😀', 'a "quoted"\n\\ text & <more> 😀'],
  ['{{ data.text | upcase | slice: 0, 5 }}', 'A \\"QU', 'A "QU'],
  ['{% echo data.text | slice: 0, 5 %}', 'a \\"qu', 'a "qu'],
  ['{% liquid\n echo data.text | slice: 0, 3\n%}', 'a \\"', 'a "'],
  ['{% cycle data.text %}', 'a \\"quoted\\"\\n\\\\ text & <more> 😀', 'a "quoted"\n\\ text & <more> 😀'],
  ['{{ data.text | raw | slice: 0, 3 }}', 'a \\"', 'a "'],
  ['{{ data.text | slice: 0, 3 | raw }}', 'a "', 'a "'],
  ['{{ data.text | slice: 0, 3 | json }}', '"a \\""', '"a \\""'],
  ['{{ data.object | json }}', '{"a":[1,"x\\""]}', '{"a":[1,"x\\""]}'],
  ['{{ data.object }}', '{\\"a\\":[1,\\"x\\\\\\"\\"]}', '{"a":[1,"x\\""]}'],
  ['{{ data.nothing | json }}{{ data.unknown | json }}', 'nullnull', 'nullnull'],
  ['{{ data.nothing }}{{ data.unknown }}', '', ''],
  ['{{ data.list }}', 'a, b\\", 3, ', 'a, b", 3, '],
  ['{{ data.number }} {{ data.yes }} {{ "a" }} {{ 1.5 }}', '5 true a 1.5', '5 true a 1.5'],
  ['{% capture c %}<{{ data.list[1] }}>{% endcapture %}{{ c }}', '<b\\">', '<b">'],
  ['{% capture c %}{% capture d %}{{ data.list[1] }}{% endcapture %}{{ d }}{% endcapture %}{{ c }}', 'b\\"', 'b"'],
  ['{% capture c %}{{ data.list[1] }}{% endcapture %}{{ c | raw }}{{ data.list[1] }}', 'b"b\\"', 'b"b"'],
  ['{% assign a = data.list[1] %}{{ a }}', 'b\\"', 'b"'],
  ['{% raw %}{{ data.text }}{% endraw %}', '{{ data.text }}', '{{ data.text }}'],
];

for (const [source, json, plain] of ESCAPES) {
  test(`${JSON.stringify(source)} is escaped once for a JSON string, and not at all for another text`, () => {
    assert.equal(shown(source), json);
    assert.equal(shown(source, false), plain);
  });
}

test('whatever a text holds, between quotes it gives JSON with that text', () => {
  const quoted = template('{"a":"{{ x }}","b":{{ x | json }}}');
  const anyText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('\ud800', '\udc00x', '{{ x }}', '\u2028'),
  );
  fc.assert(
    fc.property(anyText, (x) => {
      assert.deepEqual(JSON.parse(text(quoted.render({ x }))), { a: x.toWellFormed(), b: x.toWellFormed() });
    }),
  );
});

test('the same scope gives the same text, at every time and however often', () => {
  const all = template(
    '{{ data.time | date: "%F" }}{% for x in data.list %}{{ x }}{% cycle "a", "b" %}{% endfor %}{% assign n = data.number | plus: 1 %}{{ n }}',
  );
  const first = text(all.render(SCOPE));
  for (let round = 0; round < 3; round++) assert.equal(text(all.render(structuredClone(SCOPE))), first);
});

test('rendering changes nothing of the scope', () => {
  const before = structuredClone(SCOPE);
  shown(
    '{% assign id = "x" %}{% assign l = data.list | push: 1 | reverse | sort %}{% capture data %}{% endcapture %}'.replace(
      ' | push: 1',
      '',
    ),
  );
  assert.deepEqual(SCOPE, before);
});

test('nothing that an object inherits can be reached', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'constructor.constructor', 'hasOwnProperty'])
    assert.equal(shown(`{{ data.${name} }}{{ id.${name} }}{{ data.list.${name} }}{{ data["${name}"] }}`), '', name);
});

/** Template → the words of its fault. */
const FAULTS: readonly (readonly [template: string, says: string])[] = [
  ['a\n{{ id | nope }}', 'is not valid Liquid: the filter nope does not exist (line 2, column 1)'],
  ...[
    'sample',
    'where_exp',
    'find_exp',
    'group_by_exp',
    'date_to_string',
    'inspect',
    'valueOf',
    'constructor',
    'newline_to_br',
  ].map(
    (name) =>
      [`{{ id | ${name} }}`, `is not valid Liquid: the filter ${name} does not exist (line 1, column 1)`] as const,
  ),
  ...['include', 'render', 'layout', 'block', 'tablerow', 'increment', 'nope', 'constructor'].map(
    (name) =>
      [
        `{% ${name} "/etc/passwd" %}`,
        `is not valid Liquid: the tag ${name} does not exist (line 1, column 1)`,
      ] as const,
  ),
  ['{{ id', 'is not valid Liquid: a tag or an output that begins here is not closed (line 1, column 1)'],
  ['{% if id %}', 'is not valid Liquid: a tag or an output that begins here is not closed (line 1, column 1)'],
  ['x\n\n {{ %% hidden %% }}', 'is not valid Liquid: it cannot be parsed or rendered (line 3, column 5)'],
  ['{% for hidden %}', 'is not valid Liquid: it cannot be parsed or rendered (line 1, column 1)'],
  ['{{ id | no-pe }}', 'is not valid Liquid: the filter no-pe does not exist (line 1, column 1)'],
];

for (const [source, says] of FAULTS) {
  test(`${JSON.stringify(source)} is a fault with its place, and without the text of the template`, () => {
    const compiled = compile(source, true);
    assert.ok('fault' in compiled);
    assert.equal(compiled.fault, says);
  });
}

/** Fine as Liquid → what goes wrong with an event. */
const FAILURES: readonly (readonly [template: string, says: RegExp])[] = [
  ['{% for i in (1..2000000) %}x{% endfor %}', /^it creates lists or texts that are too large \(line 1, column 1\)$/],
  [
    '{% for i in (1..1500) %}{% for j in (1..1500) %}{% endfor %}{% endfor %}',
    /^it creates lists or texts that are too large/,
  ],
  [
    `{% assign a = "xxxxxxxxxxxxxxxx" %}${'{% assign a = a | append: a %}'.repeat(30)}`,
    /^it creates lists or texts that are too large/,
  ],
  ['{{ data.time | date: "%q" }}', /^date does not support %q \(line 1, column 1\)$/],
  ['{{ data.time | date: "%F", "Nowhere" }}', /^date does not support this time zone/],
  ['{{ data.text | truncate: "x" }}', /^truncate needs a whole number/],
];

for (const [source, says] of FAILURES) {
  test(`${JSON.stringify(source).slice(0, 80)} fails with a clause that holds no value`, () => {
    const rendered = template(source).render(SCOPE);
    assert.ok('fault' in rendered);
    assert.match(rendered.fault, says);
    assert.doesNotMatch(rendered.fault, /quoted/);
  });
}

test('what a template asks for is known by place, what it makes itself is left out', () => {
  const { variables } = template(
    '{% assign own = data.text %}{{ own.size }}\n{{ values["k"] }}{{ data[id] }}{% for x in data.list %}{{ x }}{{ forloop.last }}{% endfor %}',
  );
  assert.deepEqual(variables.map(({ path, line }) => `${path.join('.')}:${line}`).sort(), [
    'data.list:2',
    'data.text:1',
    'data:2',
    'id:2',
    'values.k:2',
  ]);
});

test('the page on templates names every available filter and tag, and no other', () => {
  const page = readFileSync(new URL('../../../../../docs/operate/templates.md', import.meta.url), 'utf8');
  const named = (heading: string) => {
    const section = new RegExp(`^## ${heading}\n([\\s\\S]*?)(?=^## )`, 'm').exec(page)?.[1] ?? assert.fail(heading);
    return [...section.matchAll(/`([a-z_0-9]+|#)`/g)].map(([, name = '']) => name).sort();
  };
  const { filters, tags } = new Liquid();
  const own = ['date', 'json', 'slack', 'truncate'];
  const usable = [...new Set([...Object.keys(filters), ...own])].filter(
    (name) => !/the filter .* does not exist/.test(faultOf(`{{ id | ${name} }}`)),
  );
  assert.deepEqual(named('Filters'), usable.sort());
  assert.deepEqual(
    named('Tags'),
    Object.keys(tags)
      .filter((name) => !/the tag .* does not exist/.test(faultOf(`{% ${name} %}`)))
      .sort(),
  );
});

function faultOf(source: string): string {
  const compiled = compile(source, true);
  return 'fault' in compiled ? compiled.fault : '';
}
