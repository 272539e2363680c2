// What the figures of a comparison say: of /api/v1/compare, of /s/<id>.json and of every export.
// Their types are made from the API's document. A field that is optional is absent in snapshots
// that were frozen before it existed.
import { type ERROR_CLASSES, HIGH_ERROR_RATE } from "./constants";
import type { Change, Figures, Measure, Metric, Panel, Point, Ratio, Series } from "./schema";

export type {
  Capacity,
  Change,
  Curve,
  Curves,
  Figures,
  FiredCheck,
  Knee,
  Measure,
  Metric,
  Outcome,
  Panel,
  Point,
  Ranking,
  RankRow,
  Ratio,
  Ratios,
  Series,
  SourceRun,
  Trust,
} from "./schema";

/** An id the server offers in `metrics`; those every point carries are named in `points`. */
export type MetricId = Metric["id"];
export type Group = NonNullable<Metric["group"]>;
/** A load point or, on a categorical axis, a name. */
export type X = Point["x"];
export type Verdict = Ratio["verdict"];
export type ErrorClass = (typeof ERROR_CLASSES)[number];

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

const knownByFigures = new WeakMap<Figures, readonly Metric[]>();

/** Metrics with a value somewhere: the others would make empty columns and charts. */
export function knownMetrics(figures: Figures): readonly Metric[] {
  const kept = knownByFigures.get(figures);
  if (kept) return kept;
  const metrics = figures.metrics.filter((metric) =>
    everyValue(figures, metric.id).some((value) => value !== null),
  );
  knownByFigures.set(figures, metrics);
  return metrics;
}

const pointsKeys = new WeakMap<Figures, string>();

/** Every point and curve as a text to compare; it is long, so it is made once. */
export function pointsKey(figures: Figures): string {
  const kept = pointsKeys.get(figures);
  if (kept !== undefined) return kept;
  const key = JSON.stringify([figures.series, figures.curves]);
  pointsKeys.set(figures, key);
  return key;
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

/** Whether so many requests failed that the other figures are not ranked. */
export function isFailing(point: Point): boolean {
  return (measureOf(point, "error_rate")?.value ?? 0) > HIGH_ERROR_RATE;
}

/** The values of a metric, by which its unit is chosen. */
export function everyValue(figures: Figures, id: MetricId): (number | null)[] {
  return figures.series.flatMap((series) =>
    series.points.map((point) => shownSize(measureOf(point, id))),
  );
}

/** The value of a measure, or the step that it is below; null where it is unknown. */
export function shownSize(measure: Measure | null): number | null {
  return measure?.value == null ? null : Math.max(measure.value, measure.step ?? 0);
}

/** "95 % interval of the median" for "95% of the median", as older versions froze it. */
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
  return joinedNames(names);
}

/** What the service adds to the name of an interval that covers a rounding of the tool. */
const WIDENED = ", widened for rounding";

/** Where a tool rounds, only some intervals of a kind may be widened: one name tells both. */
function joinedNames(names: ReadonlySet<string>): string {
  const told = [...names].sort().filter((name) => !names.has(name + WIDENED));
  return told
    .map((name) => (isPartly(name, names) ? name.replace(",", ", some") : name))
    .join(" or ");
}

function isPartly(name: string, names: ReadonlySet<string>): boolean {
  return name.endsWith(WIDENED) && names.has(name.slice(0, -WIDENED.length));
}
