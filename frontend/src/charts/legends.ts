// What the marks of each view mean, only those that occur.
import { changesOf, type Figures, intervalName, isFailing } from "../api/figures";
import { plural } from "../text/format";
import { bandsOf, countUnclassified } from "./errors";
import { FAR } from "./outliers";
import { isDense } from "./style/line_style";
import {
  FAILING,
  hasCutInterval,
  hasCutPoints,
  hasGaps,
  type SweepOptions,
  startsAboveZero,
} from "./sweep";
import { tradeoffCut } from "./tradeoff";
import type { ChartOptions } from "./view";

export function sweepLegend(figures: Figures, options: SweepOptions): string {
  return joined([
    ...intervalMarks(figures, options),
    hasOverload(figures) && OVERLOAD,
    hasErrors(figures) && `✕ = ${FAILING}`,
    hasGaps(figures) && "faint line = a load in between was not measured",
    isMarked(figures, figures.knees) && "ring = saturation point",
    isMarked(figures, figures.capacity?.rows) && "▲ = highest load within the limit",
    options.trend && changesOf(figures, options.metric).length > 0 && "dashed line = a change",
    startsAboveZero(figures, options) && "the axis does not start at zero",
  ]);
}

function intervalMarks(figures: Figures, options: SweepOptions): readonly (string | false)[] {
  const interval = intervalName(figures, options.metric);
  return [
    interval !== "" && `whisker = ${interval}`,
    !isDense(figures.series) && "faint dot = one trial",
    hasCutPoints(figures, options) && CUT,
    hasCutInterval(figures, options) &&
      "arrow at the edge = an interval or a trial ends outside the chart; see the table",
  ];
}

export function percentilesLegend(): string {
  return "merged histograms of all trials · each step from p90 on: ten times fewer responses";
}

export function tradeoffLegend(figures: Figures, options: ChartOptions): string {
  return joined([
    "arrows go from low load to high",
    hasOverload(figures) && OVERLOAD,
    tradeoffCut(figures, options) !== null && CUT,
  ]);
}

export function errorsLegend(figures: Figures): string {
  const unclassified = countUnclassified(figures);
  if (unclassified === 0) {
    const hasClasses = bandsOf(figures).length > 1;
    return hasClasses
      ? "shares of all attempts, one scale in every band"
      : "no failure has an error class";
  }
  const points = plural(unclassified, "load point");
  return joined([
    `${points} with failures of unknown class: in “all failures” only`,
    "shares of all attempts, one scale in every band",
  ]);
}

const CUT = `↑ with a value = a point above the chart, more than ${FAR} times every other value; log y shows it`;
const OVERLOAD = "hollow = overload";

function joined(texts: readonly (string | false | undefined)[]): string {
  return texts.filter(Boolean).join(" · ");
}

function hasOverload({ series }: Figures): boolean {
  return series.some(({ points }) => points.some((point) => point.overload));
}

function hasErrors({ series }: Figures): boolean {
  return series.some(({ points }) => points.some((point) => isFailing(point)));
}

/** Whether a shown series has a mark at some load. */
function isMarked(
  { series }: Figures,
  rows: readonly { readonly series: string; readonly x: unknown }[] = [],
): boolean {
  const shown = new Set(series.map(({ id }) => id));
  return rows.some((row) => row.x !== null && shown.has(row.series));
}
