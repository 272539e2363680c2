// figures -> latency against achieved throughput: each line goes through its load points in
// order of load, so that saturation shows as a bend. Pure.
import type { ChartConfiguration, ChartDataset } from "chart.js";
import {
  everyValue,
  type Figures,
  isCategory,
  type MetricId,
  measureOf,
  metricOf,
  type Series,
  type X,
} from "../api/figures";
import { loadPoint, single } from "../text/format";
import { cutAbove } from "./outliers";
import { cutPoints } from "./plugins/cut_points";
import { directionArrows } from "./plugins/direction_arrows";
import { endLabels } from "./plugins/end_labels";
import { limitLine } from "./plugins/guide_lines";
import { hoverPlugin } from "./plugins/hover";
import { aroundRange, drawable, FAR_LIMIT, plainScale, tick, yScale } from "./style/axes";
import {
  baseOptions,
  CLIP_ABOVE,
  type DrawnSeries,
  lineStyles,
  pointFill,
} from "./style/line_style";
import { type TooltipText, tooltip } from "./tooltip";
import type { ChartOptions } from "./view";

export interface TradePoint {
  readonly x: number;
  readonly y: number | null;
  /** The smallest step of the latency that the load tool prints. */
  readonly step: number | null;
  readonly at: X;
  readonly overload: boolean;
}

export interface TradeDataset extends ChartDataset<"line", TradePoint[]>, DrawnSeries {}

export type TradeConfig = ChartConfiguration<"line", TradePoint[]>;

/** The latency metric that is asked for, else p99: a throughput has no place on that axis. */
export function latencyOf(figures: Figures, metric: MetricId): MetricId {
  return metricOf(figures, metric).unit === "us" ? metric : "p99";
}

export function tradeoffPoints(
  series: Series,
  latency: MetricId,
  log: boolean,
): readonly TradePoint[] {
  return series.points.flatMap((point) => {
    const x = measureOf(point, "throughput")?.value ?? null;
    const measure = measureOf(point, latency);
    const y = drawable(measure?.value, log);
    const step = measure?.step ?? null;
    // A load point without a throughput has no place here; the table still lists it.
    return x === null ? [] : [{ x, y, step, at: point.x, overload: point.overload === true }];
  });
}

export function tradeoffChart(figures: Figures, options: ChartOptions): TradeConfig {
  const { theme, size } = options;
  const latency = latencyOf(figures, options.metric);
  const points = (options.scope ?? figures).series.flatMap((series) => [
    ...tradeoffPoints(series, latency, options.logY),
  ]);
  const cut = tradeoffCut(options.scope ?? figures, options);
  const values = points.map((point) => point.y).filter((value) => value !== null);
  const most = cut ?? Math.max(0, ...values);
  const limit = latency === "p99" ? options.limit : null;
  const room = isCategory(figures) ? 0 : options.labelWidth;
  const extent = {
    least: values.length > 0 ? Math.min(...values) : 0,
    most: limit !== null && limit <= most * FAR_LIMIT ? Math.max(most, limit) : most,
    isCut: cut !== null,
  };
  return {
    type: "line",
    data: { datasets: datasets(figures, latency, options) },
    options: {
      ...baseOptions(theme, room),
      // Throughput falls again beyond saturation, so the points are in order of load, not of x.
      parsing: { xAxisKey: "x", yAxisKey: "y" },
      normalized: false,
      interaction: { mode: "nearest", axis: "xy", intersect: false },
      scales: {
        x: rateScale(points, options),
        y: yScale({ theme, size, kind: "time", log: options.logY, ...extent }),
      },
      plugins: { tooltip: tooltip(theme, tooltipText(figures, latency)) },
    },
    plugins: [
      limitLine(limit, theme, size),
      ...(cut === null ? [] : [cutPoints("time", theme, size)]),
      hoverPlugin(),
      directionArrows(),
      endLabels({ theme, width: room, series: figures.series }),
    ],
  };
}

/** The latency above which points are cut off, if any. */
export function tradeoffCut(figures: Figures, { metric, logY }: ChartOptions): number | null {
  if (logY) return null;
  const latency = latencyOf(figures, metric);
  const points = figures.series.flatMap((series) =>
    tradeoffPoints(series, latency, logY).flatMap(({ at, y }) =>
      y === null ? [] : [{ series: series.id, x: at, y }],
    ),
  );
  return cutAbove(points);
}

function datasets(figures: Figures, latency: MetricId, options: ChartOptions): TradeDataset[] {
  const lookOf = lineStyles(figures, options);
  const isCut = tradeoffCut(options.scope ?? figures, options) !== null;
  return figures.series.map((series) => {
    const look = lookOf(series);
    const points = [...tradeoffPoints(series, latency, options.logY)];
    return {
      ...look,
      ...(isCut ? { clip: CLIP_ABOVE } : {}),
      data: points,
      spanGaps: false,
      showLine: !isCategory(figures),
      pointBackgroundColor: pointFill(look, points, options.theme.surface),
    };
  });
}

function rateScale(points: readonly TradePoint[], { theme, size, zoomed }: ChartOptions): object {
  const rates = points.map((point) => point.x);
  const most = Math.max(0, ...rates);
  const scale = plainScale(theme, size, "Achieved throughput, req/s");
  return {
    ...scale,
    type: "linear",
    ...(zoomed
      ? aroundRange(Math.min(most, ...rates), most)
      : { min: 0, suggestedMax: most * 1.03 }),
    ticks: {
      ...scale.ticks,
      maxTicksLimit: size === "main" ? 8 : 4,
      callback: (value: string | number) => tick(Number(value), "rate"),
    },
  };
}

function tooltipText(figures: Figures, latency: MetricId): TooltipText {
  return {
    title: () => "",
    label: (item) =>
      ` ${item.dataset.label} at ${tradeText(figures, item.raw as TradePoint, latency)}`,
  };
}

/** "64 connections: 52,300 req/s, p99 3.10 ms": what a tooltip and the readout say. */
export function tradeText(figures: Figures, point: TradePoint, latency: MetricId): string {
  const over = point.overload ? ", overload" : "";
  const load = loadPoint(point.at, figures.x.label);
  return `${load}: ${single("rate", point.x)}, ${latency} ${single("time", point.y, point.step)}${over}`;
}

/** Whether there is anything to draw: a frozen answer may hold no latency. */
export function hasTradeoff(figures: Figures, latency: MetricId): boolean {
  return everyValue(figures, latency).some((value) => value !== null);
}
