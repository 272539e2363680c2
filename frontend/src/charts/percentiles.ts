// figures -> latency percentile curves on an axis of nines: x = -log10(1 - p). Pure.
import type { ChartConfiguration, ChartDataset } from "chart.js";
import type { Curve, Figures } from "../api/figures";
import { loadPoint, percentile, single } from "../text/format";
import { endLabels } from "./plugins/end_labels";
import { limitLine } from "./plugins/guide_lines";
import { highlight } from "./plugins/hover";
import { drawable, plainScale, type Size, type TickScale, yScale } from "./style/axes";
import { type Drawn, frame, isDense, lookOf, type Told, tooltip } from "./style/line_style";
import { slotsIn } from "./style/series_style";
import type { ChartTheme } from "./style/theme";

export interface NinesPoint {
  readonly x: number;
  readonly y: number | null;
  readonly percent: number;
}

export interface NinesDataset extends ChartDataset<"line", NinesPoint[]>, Drawn {}

export type NinesConfig = ChartConfiguration<"line", NinesPoint[]>;

export interface NinesOptions {
  readonly logY: boolean;
  readonly emphasis: ReadonlySet<string>;
  readonly theme: ChartTheme;
  readonly size: Size;
  readonly labelWidth: number;
  /** Microseconds. */
  readonly limit: number | null;
  readonly scope?: Figures;
}

/** 90 % is one nine, 99 % two; 100 % would be at infinity. */
export function nines(percent: number): number {
  return Math.log10(1 / (1 - percent / 100));
}

export const TICKS = [50, 90, 99, 99.9, 99.99, 99.999, 99.9999] as const;

/** The curves of the series that are shown; those without a histogram have none. */
export function curvesOf(figures: Figures): readonly Curve[] {
  const shown = new Set(figures.series.map((series) => series.id));
  return (figures.curves?.series ?? []).filter((curve) => shown.has(curve.series));
}

export function ninesChart(figures: Figures, options: NinesOptions): NinesConfig {
  const { theme, size } = options;
  const all = curvesOf(options.scope ?? figures).flatMap((curve) => curve.points);
  const values = all.map(([, us]) => us).filter((us) => us > 0);
  const highest = Math.max(nines(50), ...all.map(([percent]) => place(percent)));
  const limit = options.limit ?? 0;
  const most = Math.max(0, ...values);
  const extent = {
    least: values.length > 0 ? Math.min(...values) : 0,
    most: limit <= most * 3 ? Math.max(most, limit) : most,
  };
  return {
    type: "line",
    data: { datasets: datasets(figures, options) },
    options: {
      ...frame(theme, options.labelWidth),
      parsing: false,
      normalized: true,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: {
        x: ninesScale(theme, size, highest),
        y: yScale({ theme, size, kind: "time", log: options.logY, ...extent }),
      },
      plugins: { tooltip: tooltip(theme, told()) },
    },
    plugins: [
      limitLine(options.limit, theme, size),
      highlight(),
      endLabels({
        theme,
        width: options.labelWidth,
        texts: new Map(figures.series.map((series) => [series.id, series.label])),
      }),
    ],
  };
}

function place(percent: number): number {
  return percent < 100 ? nines(percent) : 0;
}

function datasets(figures: Figures, options: NinesOptions): NinesDataset[] {
  const slots = slotsIn(options.scope ?? figures);
  const dense = isDense(figures.series);
  const curves = new Map(curvesOf(figures).map((curve) => [curve.series, curve]));
  return figures.series.flatMap((series) => {
    const curve = curves.get(series.id);
    if (!curve) return [];
    const look = lookOf(series, slots.get(series.id) ?? series.slot, { ...options, dense });
    return [
      {
        ...look,
        data: curve.points
          .filter(([percent]) => percent < 100)
          .map(([percent, us]) => ({
            x: nines(percent),
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

function ninesScale(theme: ChartTheme, size: Size, highest: number): object {
  const ticks = TICKS.filter((percent) => nines(percent) <= highest + 1e-9);
  const scale = plainScale(
    theme,
    size,
    "Percentile of responses (each step to the right is ten times rarer)",
  );
  return {
    ...scale,
    min: 0,
    max: highest,
    afterBuildTicks: (axis: TickScale) => {
      axis.ticks = ticks.map((percent) => ({ value: nines(percent) }));
    },
    ticks: {
      ...scale.ticks,
      callback: (_: string | number, index: number) => percentile(ticks[index] ?? 0),
    },
  };
}

function told(): Told {
  return {
    order: (a, b) => Number(b.parsed.y) - Number(a.parsed.y),
    title: ([first]) => (first ? percentile((first.raw as NinesPoint).percent) : ""),
    label: (item) => ` ${item.dataset.label}: ${single("time", (item.raw as NinesPoint).y)}`,
  };
}

/** The first drawn point at or beyond a percentile: the value that so many stay within. */
export function valueAt(curve: Curve, percent: number): number | null {
  const found = curve.points.find(([one]) => one >= percent - 1e-9);
  return found ? found[1] : null;
}

/** "Latency percentiles at 64 connections": the chart's name. */
export function ninesTitle(figures: Figures): string {
  const at = figures.curves?.at;
  return at === undefined
    ? "Latency percentiles"
    : `Latency percentiles at ${loadPoint(at, figures.x.label)}`;
}
