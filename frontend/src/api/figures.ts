// The JSON of /api/v1/compare, of /s/<id>.json and of every export: one shape, one type.

export type MetricId = "throughput" | "p50" | "p99" | "error_rate";

export interface Metric {
  readonly id: MetricId;
  readonly label: string;
  readonly unit: string;
  readonly better: "higher" | "lower";
}

export interface Measure {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly each?: readonly (number | null)[] | null;
  readonly origin?: string | null;
  readonly interval?: string | null;
}

export interface Point {
  readonly x: number;
  readonly cell: string;
  readonly trials: number;
  readonly overload: boolean | null;
  readonly metrics: Partial<Record<MetricId, Measure | null>>;
  readonly checks: readonly string[];
}

export interface Series {
  readonly id: string;
  readonly label: string;
  readonly server: string;
  readonly server_slug?: string | null;
  readonly version: string | null;
  readonly workload: string | null;
  readonly tool: string | null;
  readonly host: string | null;
  readonly host_slug?: string | null;
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
}

export interface Ranking {
  readonly x: number;
  readonly metric: MetricId;
  readonly baseline: string | null;
  readonly rows: readonly RankRow[];
}

export interface Check {
  readonly id: string;
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly explanation: string;
  readonly count: number;
  readonly cells?: readonly string[];
  readonly trials?: readonly string[];
}

export interface RunLink {
  readonly id: string;
  readonly started_at: string | null;
  readonly url: string;
  readonly trials: number;
}

export interface Figures {
  readonly query: string;
  readonly links?: { readonly page?: string; readonly json?: string; readonly csv?: string };
  readonly finding: string;
  readonly conditions: string;
  readonly outcome: {
    readonly status: "comparable" | "caveats" | "not_comparable";
    readonly differing: readonly string[];
    readonly reasons: readonly string[];
  };
  readonly x: {
    readonly field: string;
    readonly label: string;
    readonly values: readonly number[];
  };
  readonly metric: MetricId;
  readonly metrics: readonly Metric[];
  readonly series: readonly Series[];
  readonly ranking: Ranking | null;
  readonly checks: readonly Check[];
  readonly runs: readonly RunLink[];
  readonly truncated: unknown;
}

export function metricOf(figures: Figures, id: MetricId): Metric {
  const found = figures.metrics.find((metric) => metric.id === id) ?? figures.metrics[0];
  return found ?? { id, label: id, unit: "", better: "higher" };
}

export function measureOf(point: Point, id: MetricId): Measure | null {
  return point.metrics[id] ?? null;
}

export function everyValue(figures: Figures, id: MetricId): (number | null)[] {
  return figures.series.flatMap((series) =>
    series.points.map((point) => measureOf(point, id)?.value ?? null),
  );
}

/** "95% of the median", as the service names it, said as a reader would. */
export function intervalText(name: string): string {
  return name.replace(/^(\d+) ?%(?: interval)? of /, "$1 % interval of ");
}

/** What the intervals of a metric are: the service names it at each measure. */
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
