// The queries of a panel → its JSON in the subset of Grafana's dashboard model that we use.

/** The data source that the user selects at the top of the dashboard. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana puts its variable there.
export const DATASOURCE = { type: 'prometheus', uid: '${datasource}' } as const;

interface Target {
  readonly refId: string;
  readonly datasource: typeof DATASOURCE;
  readonly expr: string;
  readonly legendFormat: string;
  /** Whether only the last value is queried. */
  readonly instant: boolean;
  readonly range: boolean;
  readonly format: 'time_series' | 'table';
}

interface Step {
  readonly color: string;
  /** Null for the lowest step. */
  readonly value: number | null;
}

interface Panel {
  readonly id: number;
  readonly type: 'timeseries' | 'stat' | 'table' | 'row';
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: typeof DATASOURCE;
  readonly targets?: Target[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string;
      readonly min?: number;
      readonly noValue?: string;
      readonly color?: { readonly mode: 'thresholds' };
      readonly thresholds?: { readonly mode: 'absolute'; readonly steps: Step[] };
      readonly custom?: { readonly stacking: { readonly mode: 'normal' | 'none'; readonly group: 'A' } };
    };
    readonly overrides: [];
  };
  readonly options?: Readonly<Record<string, unknown>>;
  /** The panels of a collapsed row; empty here. */
  readonly panels?: [];
  readonly collapsed?: false;
}

/** A panel without its position. */
export type Drawn = Omit<Panel, 'id' | 'gridPos'> & { readonly width: number; readonly height: number };

interface Shown {
  readonly title: string;
  readonly description: string;
  /** Expressions by their legend. */
  readonly queries: Readonly<Record<string, string>>;
  /** Grafana's name of the unit. */
  readonly unit: string;
  readonly width?: number;
}

/** Returns a panel of lines over time. */
export function lines({ title, description, queries, unit, width = 8 }: Shown, stacked = false): Drawn {
  return {
    ...{
      type: 'timeseries',
      title,
      description,
      width,
      height: 8,
      datasource: DATASOURCE,
      targets: targetsOf(queries, false),
    },
    fieldConfig: {
      defaults: { unit, min: 0, custom: { stacking: { mode: stacked ? 'normal' : 'none', group: 'A' } } },
      overrides: [],
    },
    options: {
      legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  };
}

/** Returns a panel of current values, coloured by `steps`; shows `noValue` without a value. */
export function values(
  { title, description, queries, unit, width = 4 }: Shown,
  steps: readonly Step[],
  noValue: string,
): Drawn {
  return {
    ...{
      type: 'stat',
      title,
      description,
      width,
      height: 5,
      datasource: DATASOURCE,
      targets: targetsOf(queries, true),
    },
    fieldConfig: {
      defaults: { unit, noValue, color: { mode: 'thresholds' }, thresholds: { mode: 'absolute', steps: [...steps] } },
      overrides: [],
    },
    options: {
      colorMode: 'background',
      graphMode: 'none',
      reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
    },
  };
}

/** Returns a table with a row for each series and its labels. */
export function table({ title, description, queries, unit, width = 12 }: Shown, noValue: string): Drawn {
  const targets = targetsOf(queries, true).map((target) => ({ ...target, format: 'table' as const }));
  return {
    ...{ type: 'table', title, description, width, height: 8, datasource: DATASOURCE, targets },
    fieldConfig: { defaults: { unit, noValue }, overrides: [] },
    options: { showHeader: true },
  };
}

/** Returns a heading above the panels that follow it. */
export function heading(title: string): Drawn {
  return { type: 'row', title, width: 24, height: 1, collapsed: false, panels: [] };
}

function targetsOf(queries: Shown['queries'], isInstant: boolean): Target[] {
  return Object.entries(queries).map(([legendFormat, expr], index) => ({
    refId: String.fromCharCode('A'.charCodeAt(0) + index),
    ...{
      datasource: DATASOURCE,
      expr,
      legendFormat,
      instant: isInstant,
      range: !isInstant,
      format: 'time_series' as const,
    },
  }));
}

const COLUMNS = 24;

/** Places panels from left to right and down; each row is as high as its highest panel. */
export function placed(drawn: readonly Drawn[]): Panel[] {
  let [x, y, rowHeight] = [0, 0, 0];
  return drawn.map(({ width, height, ...panel }, index) => {
    if (x + width > COLUMNS) [x, y, rowHeight] = [0, y + rowHeight, 0];
    const gridPos = { x, y, w: width, h: height };
    x += width;
    rowHeight = Math.max(rowHeight, height);
    return { ...panel, id: index + 1, gridPos };
  });
}
