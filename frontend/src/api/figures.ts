// The JSON of /api/v1/compare, of /s/<id>.json and of every export: one shape, one type.

/** An id the server offers in `metrics`; those every point carries are named in `points`. */
export type MetricId = string;

export type Group = "rate" | "latency" | "errors" | "resources";

export interface Metric {
  readonly id: MetricId;
  readonly label: string;
  readonly unit: string;
  readonly better: "higher" | "lower";
  readonly group?: Group;
}

/** A load point or, on a categorical axis, a name. */
export type X = number | string;

export const ERROR_CLASSES = [
  "connect",
  "read",
  "write",
  "timeout",
  "status",
  "length",
  "other",
] as const;
export type ErrorClass = (typeof ERROR_CLASSES)[number];

export interface Measure {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly each?: readonly (number | null)[] | null;
  readonly origin?: string | null;
  readonly interval?: string | null;
}

export interface Point {
  readonly x: X;
  readonly cell: string;
  readonly cells?: readonly string[];
  readonly trials: number;
  readonly overload: boolean | null;
  readonly metrics: Readonly<Partial<Record<MetricId, Measure | null>>>;
  readonly checks: readonly string[];
  /** Shares of attempts by class; null where the tool does not tell classes apart. */
  readonly errors?: Readonly<Partial<Record<ErrorClass, number | null>>> | null;
}

export interface Series {
  readonly id: string;
  readonly label: string;
  readonly server: string;
  readonly server_slug?: string | null;
  readonly version: string | null;
  readonly runtime?: string | null;
  readonly configuration?: string | null;
  readonly workload: string | null;
  readonly workload_slug?: string | null;
  readonly tool: string | null;
  readonly loop?: string | null;
  readonly load?: string | null;
  readonly host: string | null;
  readonly host_slug?: string | null;
  readonly facet?: string | null;
  readonly slot: number;
  readonly points: readonly Point[];
}

export type Verdict = "improved" | "regressed" | "unchanged" | "inconclusive";

export interface Ratio {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly verdict: Verdict;
  readonly why: string | null;
}

export interface RankRow {
  readonly series: string;
  readonly label: string;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly tier: string | null;
  readonly ratio: Ratio | null;
  readonly significant?: boolean | null;
  readonly relevant?: boolean | null;
  /** Why it is not ranked. */
  readonly why?: string | null;
}

export interface Ranking {
  readonly x: X;
  readonly metric: MetricId;
  readonly baseline: string | null;
  readonly rows: readonly RankRow[];
}

export interface Dismissal {
  readonly run: string;
  readonly reason: string;
  readonly by: string | null;
  readonly at: string | null;
}

export interface Check {
  readonly id: string;
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly explanation: string;
  readonly count: number;
  readonly cells?: readonly string[];
  readonly trials?: readonly string[];
  readonly section?: string | null;
  readonly dismissed?: readonly Dismissal[];
}

export interface RunLink {
  readonly id: string;
  readonly started_at: string | null;
  readonly recorded_at?: string | null;
  readonly servers?: readonly string[];
  readonly url: string;
  readonly trials: number;
  /** The run goes on: more trials will follow. */
  readonly open?: boolean;
}

export interface Outcome {
  readonly status: "comparable" | "caveats" | "not_comparable";
  readonly differing: readonly string[];
  readonly reasons: readonly string[];
  readonly overridden?: boolean;
  readonly confounded?: readonly string[];
  readonly intent?: string | null;
}

export interface Panel {
  readonly value: string;
  readonly series: readonly string[];
  readonly finding: string;
  readonly outcome: Outcome;
  readonly ranking: Ranking | null;
}

/** Percentile in percent, latency in microseconds. */
export type CurvePoint = readonly [percent: number, us: number];

export interface Curve {
  readonly series: string;
  readonly count: number;
  readonly points: readonly CurvePoint[];
}

export interface Curves {
  /** Null where panels are ranked at loads of their own. */
  readonly at: X | null;
  readonly series: readonly Curve[];
}

/** The saturation point: from this load on, more load brings no more throughput. */
export interface Knee {
  readonly series: string;
  readonly x: number | null;
  readonly throughput: number | null;
  readonly why: string | null;
}

export interface Capacity {
  readonly limit_us: number;
  readonly rows: readonly {
    readonly series: string;
    readonly x: number | null;
    readonly throughput: number | null;
    readonly low: number | null;
    readonly high: number | null;
    readonly why: string | null;
  }[];
}

export interface Ratios {
  readonly baseline: { readonly server: string; readonly label: string };
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly cells: readonly (readonly (Ratio | null)[])[];
  /** The place that each column is compared at. */
  readonly loads?: readonly X[];
  /** The geometric mean of each row, and over which columns it is or why there is none. */
  readonly means?: readonly (Ratio | null)[];
  readonly means_text?: string;
}

export interface Change {
  readonly series: string;
  readonly x: X;
  readonly before: number | null;
  readonly after: number | null;
  readonly ratio: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly text: string;
}

/** Fields marked optional are absent in snapshots frozen before they existed. */
export interface Figures {
  readonly schema?: number;
  readonly query: string;
  readonly links?: { readonly page?: string; readonly json?: string; readonly csv?: string };
  readonly finding: string;
  readonly conditions: string;
  readonly outcome: Outcome;
  readonly x: {
    readonly field: string;
    readonly label: string;
    readonly kind?: "number" | "category";
    readonly values: readonly X[];
  };
  readonly metric: MetricId;
  readonly metrics: readonly Metric[];
  readonly series: readonly Series[];
  readonly ranking: Ranking | null;
  readonly panels?: readonly Panel[] | null;
  readonly curves?: Curves | null;
  readonly knees?: readonly Knee[];
  readonly capacity?: Capacity | null;
  readonly ratios?: Ratios | null;
  readonly changes?: readonly Change[];
  readonly checks: readonly Check[];
  readonly runs: readonly RunLink[];
  readonly truncated: unknown;
}

/** One panel as a comparison of its own: any code that draws figures can draw a panel. */
export function panelFigures(figures: Figures, panel: Panel): Figures {
  const inside = new Set(panel.series);
  return {
    ...figures,
    finding: panel.finding,
    outcome: panel.outcome,
    ranking: panel.ranking,
    series: figures.series.filter((series) => inside.has(series.id)),
    panels: null,
  };
}

/** The comparison itself, or each of its panels. */
export function panelsOrWhole(figures: Figures): readonly Figures[] {
  return figures.panels ? figures.panels.map((panel) => panelFigures(figures, panel)) : [figures];
}

/** The label of a series among all panels: "hello: nginx 1.27". */
export function fullLabel(figures: Figures, { facet, label }: Series): string {
  return figures.panels && facet && !label.startsWith(facet) ? `${facet}: ${label}` : label;
}

/** Names on the axis stand in the order given; an axis of load points is a scale. */
export function isCategory(figures: Figures): boolean {
  const { kind, values } = figures.x;
  return kind === "category" || values.some((value) => typeof value === "string");
}

/** Metrics with a value somewhere: the others would make empty columns and charts. */
export function knownMetrics(figures: Figures): readonly Metric[] {
  return figures.metrics.filter((metric) =>
    everyValue(figures, metric.id).some((value) => value !== null),
  );
}

export function metricOf(figures: Figures, id: MetricId): Metric {
  const metric = figures.metrics.find((offered) => offered.id === id) ?? figures.metrics[0];
  return metric ?? { id, label: id, unit: "", better: "higher" };
}

/** The changes found, where they are of the metric that is shown. */
export function changesOf(figures: Figures, metric: MetricId): readonly Change[] {
  return metric === figures.metric ? (figures.changes ?? []) : [];
}

export function measureOf(point: Point, id: MetricId): Measure | null {
  return point.metrics[id] ?? null;
}

export function everyValue(figures: Figures, id: MetricId): (number | null)[] {
  return figures.series.flatMap((series) =>
    series.points.map((point) => measureOf(point, id)?.value ?? null),
  );
}

/** "95 % interval of the median" for "95% of the median", the name in the API. */
export function intervalText(name: string): string {
  return name.replace(/^(\d+) ?%(?: interval)? of /, "$1 % interval of ");
}

/** The kind of the intervals of a metric; the API names it at each measure. */
export function intervalName(figures: Figures, id: MetricId): string {
  const names = new Set<string>();
  for (const series of figures.series) {
    for (const point of series.points) {
      const name = measureOf(point, id)?.interval;
      if (name) names.add(intervalText(name));
    }
  }
  return [...names].sort().join(" or ");
}
