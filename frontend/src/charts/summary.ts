// What each view shows in one or two sentences, made from the drawn numbers.
import { LEAST_POSITIONS } from "../api/constants";
import {
  type Figures,
  fullLabel,
  type MetricId,
  measureOf,
  metricOf,
  type Point,
  type Series,
} from "../api/figures";
import {
  grouped,
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
import { missingValuesText } from "./missing_metric";
import { PERCENTILE_TICKS, shownCurves, valueAt } from "./percentiles";
import { latencyOf, tradeoffPoints } from "./tradeoff";
import type { Summary } from "./view";

interface NamedValue {
  readonly series: Series;
  readonly text: string;
  readonly value: number;
}

function lowest<T extends { readonly value: number }>(values: readonly T[]): T | undefined {
  return [...values].sort((a, b) => a.value - b.value)[0];
}

function highest<T extends { readonly value: number }>(values: readonly T[]): T | undefined {
  return [...values].sort((a, b) => b.value - a.value)[0];
}

function seriesName(figures: Figures, series: Series): string {
  return isolated(short(fullLabel(figures, series)));
}

/** "Throughput lies between 12,100 req/s (…, 1 connection) and 84,900 req/s (…, 256 connections)." */
export function sweepSummary(figures: Figures, metric: MetricId): Summary {
  return { lead: rangeText(figures, metric), rest: missingValuesText(figures, metric) };
}

function rangeText(figures: Figures, metric: MetricId): string {
  const described = metricOf(figures, metric);
  const kind = kindOf(described.unit);
  const values: NamedValue[] = figures.series.flatMap((series) =>
    series.points.flatMap((point) => {
      const { value, step } = measureOf(point, metric) ?? { value: null };
      if (value === null) return [];
      const where = loadPoint(point.x, figures.x.label);
      return [
        {
          series,
          value,
          text: `${single(kind, value, step)} (${seriesName(figures, series)}, ${where})`,
        },
      ];
    }),
  );
  const [low, high] = [lowest(values), highest(values)];
  if (!low || !high) return `${described.label} is unknown for all of these trials.`;
  if (low.value === high.value) return `${described.label} is ${low.text} throughout.`;
  return `${described.label} lies between ${low.text} and ${high.text}.`;
}

export function percentilesSummary(figures: Figures): Summary {
  return { lead: tailText(figures), rest: curveEndsText(figures) };
}

function tailText(figures: Figures): string {
  const labels = new Map(figures.series.map((series) => [series.id, seriesName(figures, series)]));
  const tails = tailsOf(figures).map(({ series, value }) => ({
    value,
    label: labels.get(series) ?? series,
  }));
  const [low, high] = [lowest(tails), highest(tails)];
  if (!low || !high) return "No curve reaches p99 with ten or more samples beyond it.";
  const to = low === high ? "" : ` to ${single("time", high.value)} (${high.label})`;
  return `99 % of responses came within ${single("time", low.value)} (${low.label})${to}.`;
}

function curveEndsText(figures: Figures): string {
  const rest = missingCurvesText(figures);
  if (tailsOf(figures).length === 0) return rest;
  const end = Math.min(...shownCurves(figures).map((curve) => curve.points.at(-1)?.[0] ?? 0));
  const reached =
    PERCENTILE_TICKS.findLast((percent) => percent <= end + 1e-9) ?? PERCENTILE_TICKS[0];
  const ends = `Each curve ends where fewer than ten samples remain; all reach ${percentile(reached)}.`;
  return [ends, rest].filter(Boolean).join(" ");
}

/** The p99 of each curve that reaches it. */
function tailsOf(figures: Figures): readonly { series: string; value: number }[] {
  return shownCurves(figures).flatMap((curve) => {
    const value = valueAt(curve, 99);
    return value === null ? [] : [{ series: curve.series, value }];
  });
}

const NAMED_AT_ONCE = 3;

/** "No histogram: nginx 1.27 and 2 more series." */
function missingCurvesText(figures: Figures): string {
  const drawn = new Set(shownCurves(figures).map((curve) => curve.series));
  const missing = figures.series.filter((series) => !drawn.has(series.id));
  if (missing.length === 0) return "";
  const names = missing
    .slice(0, NAMED_AT_ONCE)
    .map((series) => seriesName(figures, series))
    .join(", ");
  const more = missing.length - NAMED_AT_ONCE;
  return `No histogram: ${names}${more > 0 ? ` and ${more} more` : ""}.`;
}

export function tradeoffSummary(figures: Figures, metric: MetricId): Summary {
  return { lead: bestText(figures, latencyOf(figures, metric)), rest: "" };
}

function bestText(figures: Figures, latency: MetricId): string {
  const sound = figures.series.flatMap((series) =>
    tradeoffPoints(series, latency, false)
      .filter((point) => !point.overload && point.y !== null)
      .map((point) => ({ series, point, value: point.x })),
  );
  const best = highest(sound);
  if (!best) return "No load point below overload has a known latency.";
  const { series, point, value } = best;
  return `The highest throughput without overload is ${single("rate", value)} (${seriesName(figures, series)}, ${loadPoint(point.at, figures.x.label)}) with ${latency} ${single("time", point.y, point.step)}.`;
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

export function errorsSummary(figures: Figures): Summary {
  return { lead: failuresText(figures), rest: unknownSharesText(figures) };
}

function unknownSharesText(figures: Figures): string {
  const total = figures.series.reduce((sum, series) => sum + series.points.length, 0);
  const unknown = total - sharesOf(figures).length;
  return unknown > 0 ? `Unknown for ${plural(unknown, "load point")}.` : "";
}

function failuresText(figures: Figures): string {
  const shares = sharesOf(figures);
  const failing = shares.filter((cell) => cell.value > 0);
  const worst = highest(failing);
  if (!worst) return `No attempt failed at ${plural(shares.length, "load point")}.`;
  const main = [...bandsOf(figures)]
    .filter((band) => band !== "total")
    .sort((a, b) => (shareOf(worst.point, b) ?? 0) - (shareOf(worst.point, a) ?? 0))[0];
  const mostly = main && shareOf(worst.point, main) ? `, mostly ${bandName(main)}` : "";
  return `Attempts failed at ${grouped(failing.length)} of ${plural(shares.length, "load point")}, most with ${seriesName(figures, worst.series)} at ${loadPoint(worst.point.x, figures.x.label)}: ${single("ratio", worst.value)}${mostly}.`;
}

export function ratiosSummary(figures: Figures): Summary {
  return { lead: ratiosText(figures), rest: "" };
}

function ratiosText(figures: Figures): string {
  const { rows = [], cells: table = [], baseline } = figures.ratios ?? {};
  // The baseline to itself is no ratio that could differ.
  const others = table.filter((_, row) => rows[row] !== baseline?.label);
  const cells = others.flat().filter((cell) => cell?.value != null);
  const relevant = cells.filter(
    (cell) => cell?.verdict === "improved" || cell?.verdict === "regressed",
  );
  if (cells.length === 0) return "All ratios are withheld.";
  const uncertain = cells.filter((cell) => cell?.verdict === "size_uncertain").length;
  const rest = uncertain > 0 ? ` ${uncertain} more differ beyond noise, by an uncertain size.` : "";
  return `${relevant.length} of ${plural(cells.length, "ratio")} differ from the baseline by more than noise, and enough to matter.${rest}`;
}

export function trendSummary(figures: Figures, metric: MetricId): Summary {
  // Changes were looked for in the metric that was asked for, and in no other.
  if (metric !== figures.metric) return sweepSummary(figures, metric);
  if (hasNoChanges(figures))
    return { lead: rangeText(figures, metric), rest: changesText(figures, metric) };
  return { lead: changesText(figures, metric), rest: "" };
}

/** Whether changes were looked for and none was found. */
function hasNoChanges({ changes, outcome }: Figures): boolean {
  const isWithheld = outcome.status === "not_comparable" && !outcome.overridden;
  return (changes ?? []).length === 0 && !isWithheld;
}

function changesText(figures: Figures, metric: MetricId): string {
  const changes = figures.changes ?? [];
  const label = metricOf(figures, metric).label.toLowerCase();
  // Of a few versions, the sentence above says how two differ, or that there are too few.
  const longest = Math.max(...figures.series.map(({ points }) => points.length));
  if (hasNoChanges(figures))
    return longest < LEAST_POSITIONS ? "" : `No lasting change of ${label} was found.`;
  if (changes.length === 0)
    return `Changes of ${label} are not shown: these series are not comparable.`;
  const names = new Map(figures.series.map((series) => [series.id, seriesName(figures, series)]));
  const texts = changes
    .slice(0, 3)
    .map(
      (change) =>
        `${names.get(change.series) ?? "a series"} ${times(change.ratio, change.low, change.high)} at ${short(String(change.x))}`,
    );
  const more = changes.length > 3 ? ` and ${changes.length - 3} more` : "";
  return `${plural(changes.length, "change")} of ${label}: ${texts.join("; ")}${more}.`;
}
