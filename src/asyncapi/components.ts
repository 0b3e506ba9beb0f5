// JSON Schemas of any draft → named schemas in draft-07 that code generators understand.
import { definitionOf, type SchemaNode } from '../http/openapi/operation.ts';

/**
 * Keywords that generators misread or that draft-07 does not have. They say more than a type can: the JSON Schemas in
 * docs/schemas keep them for validation.
 */
const DROPPED: ReadonlySet<string> = new Set([
  '$schema',
  '$id',
  'title',
  'if',
  'then',
  'else',
  'propertyNames',
  'contentSchema',
  // A set in some languages, which loses the order.
  'uniqueItems',
  'examples',
  'const',
]);

/** Parts that schemas share have one name, whichever schema contains them. */
const SHARED_TITLES: Readonly<Record<string, string>> = {
  vm: 'ObserverVm',
  tags: 'ObserverTags',
  eventStatus: 'EventStatus',
  outcome: 'Outcome',
};

/**
 * The schemas of a document by title. Each object and each `enum` has a title; two schemas with one title are equal.
 */
export class Components {
  readonly schemas: Record<string, SchemaNode> = {};

  /**
   * Adds a schema that is already in the form for generators.
   * @returns a reference to it.
   * @throws Error if the title means another schema
   */
  add(title: string, schema: SchemaNode): SchemaNode {
    const added = { title, ...schema };
    const known = this.schemas[title];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(added))
      throw new Error(`two schemas have the title ${title}`);
    this.schemas[title] = added;
    return { $ref: `#/components/schemas/${title}` };
  }

  /**
   * Converts a schema and the schemas in it, and adds them.
   * @param title for an object or an `enum`.
   * @returns the schema, or a reference
   */
  convert(schema: SchemaNode, title: string): SchemaNode {
    const definition = definitionOf(schema);
    if (definition !== undefined) return this.convert(definition as SchemaNode, lastPartOf(schema));
    const kept = Object.entries(schema).filter(([keyword]) => !DROPPED.has(keyword));
    const own: SchemaNode = { ...Object.fromEntries(kept), ...examplesOf(schema), ...constantOf(schema) };
    const list = own['enum'] as readonly unknown[] | undefined;
    if (list !== undefined) return list.includes(null) ? withoutEnum(own) : this.add(title, { ...own, type: 'string' });
    if ('items' in own) return { ...own, items: this.#member(own['items'] as SchemaNode, title) };
    return own['type'] === 'object' ? this.add(title, this.#object(own, title)) : own;
  }

  #object(schema: SchemaNode, title: string): SchemaNode {
    // A choice between required members is a validation, not a type.
    const { oneOf: _, properties = {}, additionalProperties, required = [], discriminator, ...rest } = schema;
    const entries = Object.entries(properties as SchemaNode).map(([name, member]) => {
      const converted = this.convert(member as SchemaNode, SHARED_TITLES[name] ?? title + pascal(name));
      // The discriminator of a class is the only constant that generators handle.
      return [name, name === discriminator ? { type: 'string', const: (member as SchemaNode)['const'] } : converted];
    });
    return {
      ...rest,
      ...(discriminator !== undefined && { allOf: [this.#base(String(discriminator))] }),
      ...((required as readonly string[]).length > 0 && { required }),
      ...(entries.length > 0 && { properties: Object.fromEntries(entries) }),
      ...(additionalProperties !== undefined && { additionalProperties }),
    };
  }

  /** Tells the classes of one channel apart. Generators look for a discriminator in `allOf`. */
  #base(discriminator: string): SchemaNode {
    const properties = { [discriminator]: { type: 'string' } };
    return this.add('CloudEvent', { type: 'object', discriminator, required: [discriminator], properties });
  }

  /** A list may grow by new words: an `enum` would make generated types reject them. */
  #member(items: SchemaNode, title: string): SchemaNode {
    return 'enum' in items ? withoutEnum(items) : this.convert(items, `${title}Item`);
  }
}

/** `approval.recorded` → `ApprovalRecorded`; `eventStatus` → `EventStatus`. */
export function pascal(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function lastPartOf({ $ref }: SchemaNode): string {
  return String($ref).split('/').at(-1) ?? '';
}

function examplesOf({ examples, type }: SchemaNode): SchemaNode {
  return Array.isArray(examples) && type !== 'object' ? { examples } : {};
}

/** A text with examples instead of a closed list. */
function withoutEnum({ enum: list, ...rest }: SchemaNode): SchemaNode {
  const words = list as readonly (string | null)[];
  return { ...rest, type: words.includes(null) ? ['string', 'null'] : 'string', examples: words };
}

/** Generators write constants that do not compile. A pattern says the same, and they ignore it. */
function constantOf(schema: SchemaNode): SchemaNode {
  if (!('const' in schema)) return {};
  const { const: value } = schema;
  return {
    type: typeof value,
    ...(typeof value === 'string' && { pattern: `^${escaped(value)}$` }),
    examples: [value],
  };
}

function escaped(text: string): string {
  return [...text].map((character) => ('\\^$.|?*+()[]{}'.includes(character) ? `\\${character}` : character)).join('');
}
