// What the marks of each view mean, only those that occur.
import { changesOf, type Figures, intervalName, measureOf } from "../api/figures";
import { bandsOf, countUnclassified } from "./errors";
import { isDense } from "./style/line_style";
import { ERROR_LIMIT, hasCutInterval, hasGaps, type SweepOptions, startsAboveZero } from "./sweep";

export function sweepLegend(figures: Figures, options: SweepOptions): string {
  const interval = intervalName(figures, options.metric);
  const hasChanges = options.trend === true && changesOf(figures, options.metric).length > 0;
  return joined([
    interval !== "" && `whisker = ${interval}`,
    !isDense(figures.series) && "faint dot = one trial",
    hasCutInterval(figures, options) && "↑ = the interval goes on; the table has its end",
    hasOverload(figures) && OVERLOAD,
    hasErrors(figures) && "✕ = errors above 1 %",
    hasGaps(figures) && "faint stretch = a load between was not measured",
    isMarked(figures, figures.knees ?? []) && "ring = saturation point",
    isMarked(figures, figures.capacity?.rows ?? []) && "▲ = highest load within the limit",
    hasChanges && "dashed rule = a change",
    startsAboveZero(figures, options) && "the axis does not start at zero",
  ]);
}

export function percentilesLegend(): string {
  return "merged histograms of all trials · a curve ends where fewer than 10 samples remain";
}

export function tradeoffLegend(figures: Figures): string {
  return joined(["arrows go from low load to high", hasOverload(figures) && OVERLOAD]);
}

export function errorsLegend(figures: Figures): string {
  const unclassified = countUnclassified(figures);
  if (unclassified === 0) {
    const hasClasses = bandsOf(figures).length > 1;
    return hasClasses
      ? "shares of all attempts, one scale in every band"
      : "no failure has a class";
  }
  const points = `${unclassified} load point${unclassified === 1 ? "" : "s"}`;
  return joined([
    `${points} with failures of unknown class: in “all failures” only`,
    "shares of all attempts, one scale in every band",
  ]);
}

const OVERLOAD = "hollow = overload";

function joined(texts: readonly (string | false)[]): string {
  return texts.filter((text) => text !== false).join(" · ");
}

function hasOverload({ series }: Figures): boolean {
  return series.some(({ points }) => points.some((point) => point.overload));
}

function hasErrors({ series }: Figures): boolean {
  return series.some(({ points }) =>
    points.some((point) => (measureOf(point, "error_rate")?.value ?? 0) > ERROR_LIMIT),
  );
}

/** Whether a shown series has a mark at some load. */
function isMarked(
  { series }: Figures,
  rows: readonly { readonly series: string; readonly x: unknown }[],
): boolean {
  const shown = new Set(series.map(({ id }) => id));
  return rows.some((row) => row.x !== null && shown.has(row.series));
}
