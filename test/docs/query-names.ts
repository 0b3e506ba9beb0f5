// A query in Kusto's language → the names in it that are neither its language nor its own.

/** What the queries that we ship use of the language. */
const LANGUAGE = new Set(
  (
    'let where extend summarize project join kind leftanti on order by asc desc in and or between startswith ' +
    'arg_max arg_min maxif make_set dcount bin ago now isnull isnotnull extract'
  ).split(' '),
);

export interface QueryNames {
  /** Names that stand for columns and tables. */
  readonly used: ReadonlySet<string>;
  /** What the query itself names. */
  readonly defined: ReadonlySet<string>;
}

/** @throws Error for brackets that are not balanced */
export function queryNames(query: string): QueryNames {
  const bare = query.replaceAll(/@?'(?:[^'\\]|\\.)*'/g, "''").replaceAll(/@?"(?:[^"\\]|\\.)*"/g, '""');
  let open = 0;
  for (const bracket of bare.match(/[()]/g) ?? []) {
    open += bracket === '(' ? 1 : -1;
    if (open < 0) break;
  }
  if (open !== 0) throw new Error(`brackets are not balanced: ${query}`);
  const defined = new Set(
    [...bare.matchAll(/\b([A-Za-z_]\w*)\s*=(?![=~])/g)].map(([, name = '']) => name).filter((name) => name !== 'kind'),
  );
  const words = [...bare.matchAll(/(?<![\w.])[A-Za-z_]\w*/g)].map(([word]) => word);
  return { used: new Set(words.filter((word) => !LANGUAGE.has(word) && !defined.has(word))), defined };
}
