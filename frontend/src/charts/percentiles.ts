// figures -> latency percentile curves. The axis counts nines: x = -log10(1 - p), so that each step
// to the right is ten times rarer. Pure.
import type { ChartConfiguration, ChartDataset } from "chart.js";
import type { Curve, Figures, X } from "../api/figures";
import { loadPoint, PLAIN, percentile, single, unitFor } from "../text/format";
import { endLabels } from "./plugins/end_labels";
import { limitLine } from "./plugins/guide_lines";
import { hoverPlugin } from "./plugins/hover";
import { drawable, FAR_LIMIT, plainScale, type Size, type TickScale, yScale } from "./style/axes";
import { baseOptions, type DrawnSeries, lineStyles } from "./style/line_style";
import type { ChartTheme } from "./style/theme";
import { type TooltipText, tooltip } from "./tooltip";
import type { ChartOptions, ViewTable } from "./view";

export interface PercentilePoint {
  readonly x: number;
  readonly y: number | null;
  readonly percent: number;
}

export interface PercentileDataset extends ChartDataset<"line", PercentilePoint[]>, DrawnSeries {}

export type PercentileConfig = ChartConfiguration<"line", PercentilePoint[]>;

/** 90 % is one nine, 99 % two; 100 % would be at infinity. */
export function percentilePosition(percent: number): number {
  return Math.log10(1 / (1 - percent / 100));
}

export const PERCENTILE_TICKS = [50, 90, 99, 99.9, 99.99, 99.999, 99.9999] as const;

/** The curves of the series that are shown; those without a histogram have none. */
export function shownCurves(figures: Figures): readonly Curve[] {
  const shown = new Set(figures.series.map((series) => series.id));
  return (figures.curves?.series ?? []).filter((curve) => shown.has(curve.series));
}

export function percentilesChart(figures: Figures, options: ChartOptions): PercentileConfig {
  const { theme, size } = options;
  const points = shownCurves(options.scope ?? figures).flatMap((curve) => curve.points);
  const values = points.map(([, us]) => us).filter((us) => us > 0);
  const reached = points.map(([percent]) => place(percent));
  const highest = Math.max(percentilePosition(50), ...reached);
  const lowest = options.zoomed ? Math.min(highest, ...reached) : 0;
  const limit = options.limit ?? 0;
  const most = Math.max(0, ...values);
  const extent = {
    least: values.length > 0 ? Math.min(...values) : 0,
    most: limit <= most * FAR_LIMIT ? Math.max(most, limit) : most,
  };
  return {
    type: "line",
    data: { datasets: datasets(figures, options) },
    options: {
      ...baseOptions(theme, options.labelWidth),
      scales: {
        x: percentileScale(theme, size, [lowest, highest]),
        y: yScale({ theme, size, kind: "time", log: options.logY, ...extent }),
      },
      plugins: { tooltip: tooltip(theme, tooltipText()) },
    },
    plugins: [
      limitLine(options.limit, theme, size),
      hoverPlugin(),
      endLabels({ theme, width: options.labelWidth, series: figures.series }),
    ],
  };
}

function place(percent: number): number {
  return percent < 100 ? percentilePosition(percent) : 0;
}

function datasets(figures: Figures, options: ChartOptions): PercentileDataset[] {
  const lookOf = lineStyles(figures, options);
  const curves = new Map(shownCurves(figures).map((curve) => [curve.series, curve]));
  return figures.series.flatMap((series) => {
    const curve = curves.get(series.id);
    if (!curve) return [];
    const look = lookOf(series);
    return [
      {
        ...look,
        data: curve.points
          .filter(([percent]) => percent < 100)
          .map(([percent, us]) => ({
            x: percentilePosition(percent),
            y: drawable(us, options.logY),
            percent,
          })),
        // A curve is dense; markers would make a caterpillar of it. Dashes tell them apart.
        pointRadius: 0,
        pointHoverRadius: look.pointHoverRadius,
        pointBackgroundColor: look.borderColor,
      },
    ];
  });
}

function percentileScale(
  theme: ChartTheme,
  size: Size,
  [lowest, highest]: readonly [number, number],
): object {
  const ticks = PERCENTILE_TICKS.filter((percent) => {
    const at = percentilePosition(percent);
    return at >= lowest - 1e-9 && at <= highest + 1e-9;
  });
  const scale = plainScale(theme, size, "Percentile of responses");
  return {
    ...scale,
    min: lowest,
    max: highest,
    afterBuildTicks: (axis: TickScale) => {
      axis.ticks = ticks.map((percent) => ({ value: percentilePosition(percent) }));
    },
    ticks: {
      ...scale.ticks,
      callback: (_: string | number, index: number) => percentile(ticks[index] ?? 0),
    },
  };
}

function tooltipText(): TooltipText {
  return {
    order: (a, b) => Number(b.parsed.y) - Number(a.parsed.y),
    title: ([first]) => (first ? percentile((first.raw as PercentilePoint).percent) : ""),
    label: (item) => ` ${item.dataset.label}: ${single("time", (item.raw as PercentilePoint).y)}`,
  };
}

/** The first drawn point at or beyond a percentile: the value that so many stay within. */
export function valueAt(curve: Curve, percent: number): number | null {
  const point = curve.points.find(([reached]) => reached >= percent - 1e-9);
  return point ? point[1] : null;
}

/** "Latency percentiles at 64 connections": the chart's name. */
export function percentilesTitle(figures: Figures): string {
  return `Latency percentiles${placeText(figures, figures.curves?.at)}`;
}

/** " at 64 connections"; empty where there is no one place. */
function placeText(figures: Figures, at: X | null | undefined): string {
  return at === null || at === undefined ? "" : ` at ${loadPoint(at, figures.x.label)}`;
}

/** Why there is no curve to draw; null where there is one. */
export function whyNoCurves(figures: Figures): string | null {
  if (shownCurves(figures).length > 0) return null;
  const place = placeText(figures, figures.ranking?.x ?? figures.curves?.at);
  return `No series has a histogram${place}: a percentile curve needs the load tool's samples or its full latency distribution.`;
}

/** Series with a curve, the fastest and the slowest first: the summary names these two. */
export function curveWeights(figures: Figures): ReadonlyMap<string, number> {
  const curves = figures.curves?.series ?? [];
  const tails = curves.map((curve) => ({ series: curve.series, us: valueAt(curve, 99) }));
  const bySpeed = tails
    .filter(({ us }) => us !== null)
    .sort((a, b) => Number(a.us) - Number(b.us))
    .map(({ series }) => series);
  const ends = [bySpeed.at(0), bySpeed.at(-1)];
  return new Map(tails.map(({ series }) => [series, ends.includes(series) ? 2 : 1]));
}

/** The percentiles that people name, one row for each curve; blank where a curve has ended. */
export function percentileTable(figures: Figures): ViewTable | null {
  const curves = shownCurves(figures);
  if (curves.length === 0) return null;
  const percents = PERCENTILE_TICKS.filter((percent) =>
    curves.some((curve) => valueAt(curve, percent) !== null),
  );
  // One unit for all columns. By the p90, long tails do not turn medians into 0.00200 s.
  const unit = unitFor(
    "time",
    curves.map((curve) => valueAt(curve, 90) ?? valueAt(curve, 50)),
  );
  return {
    caption: `${percentilesTitle(figures)}, from merged histograms`,
    columns: [
      { label: "Responses", kind: "count", unit: PLAIN, better: null },
      ...percents.map(
        (percent) => ({ label: percentile(percent), kind: "time", unit, better: "lower" }) as const,
      ),
    ],
    rows: curves.map((curve) => ({
      series: curve.series,
      values: [curve.count, ...percents.map((percent) => valueAt(curve, percent))],
    })),
  };
}
