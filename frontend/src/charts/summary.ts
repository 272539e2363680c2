// One sentence of what a chart shows, generated from the drawn numbers, for those who do not
// see it and for those in a hurry.
import {
  type Figures,
  fullLabel,
  type MetricId,
  measureOf,
  metricOf,
  type Point,
  type Series,
} from "../api/figures";
import type { View } from "../query/query";
import {
  isolated,
  kindOf,
  loadPoint,
  percentile,
  plural,
  short,
  single,
  times,
} from "../text/format";
import { bandName, bandsOf, shareOf } from "./errors";
import { curvesOf, TICKS, valueAt } from "./percentiles";
import { latencyOf, tradeoffPoints } from "./tradeoff";

export function summaryOf(figures: Figures, view: View, metric: MetricId): string {
  if (figures.series.length === 0) return "There is nothing to draw.";
  switch (view) {
    case "nines":
      return `${ninesLead(figures)}${ninesRest(figures)}`;
    case "tradeoff":
      return tradeoffSummary(figures, latencyOf(figures, metric));
    case "errors":
      return `${errorsLead(figures)}${errorsRest(figures)}`;
    case "ratios":
      return ratiosSummary(figures);
    case "trend":
      // Changes were looked for in the metric that was asked for, and in no other.
      if (metric !== figures.metric) return sweepSummary(figures, metric);
      return trendSummary(figures, metric);
    default:
      return sweepSummary(figures, metric);
  }
}

/** The sentence that heads a view which no finding is about; null for the others. */
export function leadOf(figures: Figures, view: View): string | null {
  if (view === "nines") return bare(ninesLead(figures));
  return view === "errors" ? bare(errorsLead(figures)) : null;
}

/** What the summary of such a view says below that sentence. */
export function restOf(figures: Figures, view: View): string {
  return (view === "nines" ? ninesRest(figures) : errorsRest(figures)).trim();
}

/** As findings are: without a full stop, and without the marks that only running text needs. */
function bare(sentence: string): string {
  return sentence.replace(/[\u2068\u2069]|\.$/g, "");
}

interface Best {
  readonly series: Series;
  readonly text: string;
  readonly value: number;
}

function extreme<T extends { readonly value: number }>(
  all: readonly T[],
  most: boolean,
): T | undefined {
  return [...all].sort((a, b) => (most ? b.value - a.value : a.value - b.value))[0];
}

function named(figures: Figures, series: Series): string {
  return isolated(short(fullLabel(figures, series)));
}

/** "Throughput reaches its highest, 84.9k req/s, with … at 256 connections; the lowest …". */
function sweepSummary(figures: Figures, metric: MetricId): string {
  const described = metricOf(figures, metric);
  const kind = kindOf(described.unit);
  const all: Best[] = figures.series.flatMap((series) =>
    series.points.flatMap((point) => {
      const value = measureOf(point, metric)?.value ?? null;
      if (value === null) return [];
      const where = loadPoint(point.x, figures.x.label);
      return [
        { series, value, text: `${single(kind, value)} (${named(figures, series)}, ${where})` },
      ];
    }),
  );
  const [low, high] = [extreme(all, false), extreme(all, true)];
  if (!low || !high) return `${described.label} is not known for any of these trials.`;
  if (low.value === high.value) return `${described.label} is ${low.text} throughout.`;
  return `${described.label} lies between ${low.text} and ${high.text}.`;
}

function ninesLead(figures: Figures): string {
  const labels = new Map(figures.series.map((series) => [series.id, named(figures, series)]));
  const tails = tailsOf(figures).map(({ series, value }) => ({
    value,
    label: labels.get(series) ?? series,
  }));
  const [low, high] = [extreme(tails, false), extreme(tails, true)];
  if (!low || !high) return "No curve reaches p99 with ten or more samples beyond it.";
  const to = low === high ? "" : ` to ${single("time", high.value)} (${high.label})`;
  return `99 % of responses came within ${single("time", low.value)} (${low.label})${to}.`;
}

function ninesRest(figures: Figures): string {
  const rest = withoutHistogram(figures);
  if (tailsOf(figures).length === 0) return rest;
  const end = Math.min(...curvesOf(figures).map((curve) => curve.points.at(-1)?.[0] ?? 0));
  const reached = TICKS.findLast((percent) => percent <= end + 1e-9) ?? TICKS[0];
  return ` Each curve ends where fewer than ten samples remain; all reach ${percentile(reached)}.${rest}`;
}

/** The p99 of each curve that reaches it. */
function tailsOf(figures: Figures): readonly { series: string; value: number }[] {
  return curvesOf(figures).flatMap((curve) => {
    const value = valueAt(curve, 99);
    return value === null ? [] : [{ series: curve.series, value }];
  });
}

const NAMED_AT_ONCE = 3;

/** " No histogram: nginx 1.27 and 2 more series." */
function withoutHistogram(figures: Figures): string {
  const drawn = new Set(curvesOf(figures).map((curve) => curve.series));
  const missing = figures.series.filter((series) => !drawn.has(series.id));
  if (missing.length === 0) return "";
  const names = missing
    .slice(0, NAMED_AT_ONCE)
    .map((series) => named(figures, series))
    .join(", ");
  const more = missing.length - NAMED_AT_ONCE;
  return ` No histogram: ${names}${more > 0 ? ` and ${more} more` : ""}.`;
}

function tradeoffSummary(figures: Figures, latency: MetricId): string {
  const sound = figures.series.flatMap((series) =>
    tradeoffPoints(series, latency, false)
      .filter((point) => !point.overload && point.y !== null)
      .map((point) => ({ series, point, value: point.x })),
  );
  const best = extreme(sound, true);
  if (!best) return "No load point was met with a known latency.";
  const { series, point, value } = best;
  return `The highest throughput short of overload is ${single("rate", value)} (${named(figures, series)}, ${loadPoint(point.at, figures.x.label)}) with ${latency} ${single("time", point.y)}.`;
}

interface Share {
  readonly series: Series;
  readonly point: Point;
  readonly value: number;
}

/** The share of failed attempts wherever it is known. */
function sharesOf(figures: Figures): readonly Share[] {
  return figures.series.flatMap((series) =>
    series.points.flatMap((point) => {
      const value = shareOf(point, "total");
      return value === null ? [] : [{ series, point, value }];
    }),
  );
}

function errorsRest(figures: Figures): string {
  const all = figures.series.reduce((sum, series) => sum + series.points.length, 0);
  const unknown = all - sharesOf(figures).length;
  return unknown > 0 ? ` Unknown for ${plural(unknown, "load point")}.` : "";
}

function errorsLead(figures: Figures): string {
  const known = sharesOf(figures);
  const failing = known.filter((cell) => cell.value > 0);
  const worst = extreme(failing, true);
  if (!worst) return `No attempt failed at ${plural(known.length, "load point")}.`;
  const main = [...bandsOf(figures)]
    .filter((band) => band !== "total")
    .sort((a, b) => (shareOf(worst.point, b) ?? 0) - (shareOf(worst.point, a) ?? 0))[0];
  const mostly = main && worst.point.errors ? `, mostly ${bandName(main)}` : "";
  return `Attempts failed at ${failing.length} of ${plural(known.length, "load point")}, most with ${named(figures, worst.series)} at ${loadPoint(worst.point.x, figures.x.label)}: ${single("ratio", worst.value)}${mostly}.`;
}

function ratiosSummary(figures: Figures): string {
  const cells = (figures.ratios?.cells ?? []).flat().filter((cell) => cell?.value != null);
  const told = cells.filter(
    (cell) => cell?.verdict === "improved" || cell?.verdict === "regressed",
  );
  if (cells.length === 0) return "All ratios are withheld.";
  return `${told.length} of ${plural(cells.length, "ratio")} differ from the baseline beyond noise and relevance.`;
}

function trendSummary(figures: Figures, metric: MetricId): string {
  const changes = figures.changes ?? [];
  const label = metricOf(figures, metric).label.toLowerCase();
  const over = `${figures.x.values.length} values of ${figures.x.label.toLowerCase()}`;
  const { status, overridden } = figures.outcome;
  if (changes.length === 0 && status === "not_comparable" && !overridden)
    return `Changes of ${label} are not told: these series are not comparable.`;
  if (changes.length === 0) return `No change of ${label} was found over ${over}.`;
  const names = new Map(figures.series.map((series) => [series.id, named(figures, series)]));
  const said = changes
    .slice(0, 3)
    .map(
      (change) =>
        `${names.get(change.series) ?? "a series"} ${times(change.ratio, change.low, change.high)} at ${short(String(change.x))}`,
    );
  const more = changes.length > 3 ? ` and ${changes.length - 3} more` : "";
  return `${plural(changes.length, "change")} of ${label} over ${over}: ${said.join("; ")}${more}.`;
}
