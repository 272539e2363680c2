// figures -> Chart.js configuration of one metric over the load points. Pure: no DOM, no fetch.
import type { ChartConfiguration, ChartDataset, TooltipItem } from "chart.js";
import {
  everyValue,
  type Figures,
  type MetricId,
  measureOf,
  metricOf,
  type Point,
  type Series,
} from "../api/figures";
import {
  halfWidth,
  interval,
  inUnit,
  type Kind,
  kindOf,
  loadPoint,
  plural,
  type Unit,
  unitFor,
} from "../text/format";
import { colourOf, dashOf, markerOf, slotsOf } from "./identity";
import { evidence } from "./marks/evidence";
import { guide } from "./marks/guide";
import { endLabels, type LabelOptions } from "./marks/labels";
import type { ChartTheme } from "./theme";

export const ERROR_LIMIT = 0.01;

export interface SweepPoint {
  readonly x: number;
  readonly y: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly each: readonly number[];
  readonly overload: boolean;
  readonly failing: boolean;
  readonly trials: number;
}

export interface SweepDataset extends ChartDataset<"line", SweepPoint[]> {
  readonly seriesId: string;
  readonly loud: boolean;
}

export type SweepConfig = ChartConfiguration<"line", SweepPoint[]>;

export interface SweepOptions {
  readonly metric: MetricId;
  readonly logX: boolean;
  readonly logY: boolean;
  readonly emphasis: ReadonlySet<string>;
  readonly theme: ChartTheme;
  readonly size: "main" | "small";
  /** Room for direct labels, in pixels; 0 leaves them to the legend. */
  readonly labelWidth: number;
  readonly at: number | null;
}

export function sweepChart(figures: Figures, options: SweepOptions): SweepConfig {
  const kind = kindOf(metricOf(figures, options.metric).unit);
  const unit = unitFor(kind, everyValue(figures, options.metric));
  const datasets = ordered(figures.series, options.emphasis).map((series) =>
    dataset(figures, series, options),
  );
  return {
    type: "line",
    data: { datasets },
    options: {
      responsive: true,
      maintainAspectRatio: false,
      animation: false,
      parsing: false,
      normalized: true,
      events: ["mousemove", "mouseout", "click", "touchstart", "touchmove"],
      interaction: { mode: "nearest", axis: "x", intersect: false },
      layout: { padding: { top: 8, right: Math.max(10, options.labelWidth), bottom: 0, left: 0 } },
      font: { family: options.theme.font, size: 12 },
      scales: {
        x: xScale(figures, options),
        y: yScale(figures, kind, unit, options),
      },
      plugins: { tooltip: tooltip(figures, unit, options) },
    },
    plugins: [
      guide(options.at, options.theme),
      evidence(options.theme, options.size),
      endLabels(labelOptions(figures, options)),
    ],
  };
}

/** Loud lines are drawn last, so that context never covers them. */
function ordered(series: readonly Series[], emphasis: ReadonlySet<string>): readonly Series[] {
  return [...series].sort((a, b) => Number(emphasis.has(b.id)) - Number(emphasis.has(a.id)));
}

function dataset(figures: Figures, series: Series, options: SweepOptions): SweepDataset {
  const slot = slotsOf(figures.series).get(series.id) ?? series.slot;
  const loud = options.emphasis.has(series.id);
  const colour = loud ? colourOf(slot, options.theme) : options.theme.context;
  const points = series.points.map((point) => sweepPoint(point, options));
  const radius = options.size === "main" ? 4.5 : 3;
  return {
    seriesId: series.id,
    loud,
    label: series.label,
    data: points,
    clip: false,
    tension: 0,
    spanGaps: false,
    borderColor: colour,
    borderWidth: loud ? 2 : 1.25,
    borderDash: dashOf(slot),
    pointStyle: markerOf(slot),
    pointRadius: loud ? radius : radius - 1.5,
    pointHoverRadius: radius + 1.5,
    pointBorderColor: colour,
    pointBorderWidth: 1.75,
    pointBackgroundColor: points.map((point) => (point.overload ? options.theme.surface : colour)),
  };
}

function sweepPoint(point: Point, options: SweepOptions): SweepPoint {
  const measure = measureOf(point, options.metric);
  const shown = (value: number | null | undefined): number | null => drawable(value, options);
  return {
    x: point.x,
    y: shown(measure?.value),
    low: shown(measure?.low),
    high: shown(measure?.high),
    each: (measure?.each ?? []).map(shown).filter((value) => value !== null),
    overload: point.overload === true,
    failing: (measureOf(point, "error_rate")?.value ?? 0) > ERROR_LIMIT,
    trials: point.trials,
  };
}

/** A log axis has no place for zero: a gap there, the table still says 0. */
function drawable(value: number | null | undefined, options: SweepOptions): number | null {
  if (typeof value !== "number" || !Number.isFinite(value)) return null;
  return usesLogY(options) && value <= 0 ? null : value;
}

function usesLogY(options: SweepOptions): boolean {
  return options.logY && options.metric !== "error_rate";
}

type Scale = NonNullable<NonNullable<SweepConfig["options"]>["scales"]>[string];
type TickScale = { ticks: { value: number }[] };

function xScale(figures: Figures, options: SweepOptions): Scale {
  const values = figures.x.values;
  const { theme, size } = options;
  const least = Math.min(...values);
  const most = Math.max(...values);
  return {
    type: options.logX ? "logarithmic" : "linear",
    min: options.logX ? least / 1.12 : Math.min(0, least),
    max: options.logX ? most * 1.12 : most * 1.03,
    grid: { color: theme.grid, drawTicks: false },
    border: { color: theme.grid },
    title: {
      display: size === "main",
      text: figures.x.label,
      color: theme.muted,
      font: { size: 12 },
      padding: { top: 4, bottom: 0 },
    },
    afterBuildTicks: (axis: TickScale) => {
      axis.ticks = values.map((value) => ({ value }));
    },
    ticks: {
      color: theme.muted,
      padding: 6,
      font: { size: size === "main" ? 12 : 11 },
      maxRotation: 0,
      autoSkip: true,
      autoSkipPadding: 8,
      callback: (value: string | number) => String(value),
    },
  } as Scale;
}

function yScale(figures: Figures, kind: Kind, unit: Unit, options: SweepOptions): Scale {
  const { theme, size } = options;
  const log = usesLogY(options);
  const { least, most } = reach(figures, options);
  const axisUnit = kind === "time" ? unitFor(kind, [most]) : unit;
  return {
    type: log ? "logarithmic" : "linear",
    ...(log ? logBounds(least, most) : { min: 0, suggestedMax: most * 1.04 }),
    // All-zero error rates would otherwise get an axis up to 100 %.
    ...(most === 0 && !log ? { max: kind === "ratio" ? ERROR_LIMIT : 1 } : {}),
    grid: { color: theme.grid, drawTicks: false },
    border: { display: false },
    ticks: {
      color: theme.muted,
      padding: 8,
      font: { size: size === "main" ? 12 : 11 },
      maxTicksLimit: size === "main" ? 7 : 4,
      callback: (value: string | number) => tick(Number(value), axisUnit, log),
    },
  } as Scale;
}

function logBounds(least: number, most: number): object {
  return least > 0 ? { suggestedMin: least, suggestedMax: most } : {};
}

/** How many times the largest value an interval may reach before the axis cuts it off. */
const LONGEST = 3;

interface Reach {
  readonly least: number;
  readonly most: number;
}

/** What the y axis shows: every value and trial, and every interval end that is not too far off. */
function reach(figures: Figures, options: SweepOptions): Reach {
  const points = figures.series.flatMap((series) =>
    series.points.map((point) => sweepPoint(point, options)),
  );
  const values = points.flatMap((point) => [point.y, ...point.each]).filter(isNumber);
  const most = Math.max(0, ...values);
  const least = values.length > 0 ? Math.min(...values) : 0;
  const ends = points
    .flatMap((point) => [point.low, point.high])
    .filter(isNumber)
    .filter((end) => end <= most * LONGEST && end >= least / LONGEST);
  return { least: Math.min(least, ...ends), most: Math.max(most, ...ends) };
}

/** Whether an interval goes on beyond the chart: its end is in the table only. */
export function hasCutInterval(figures: Figures, options: SweepOptions): boolean {
  const { most } = reach(figures, options);
  return figures.series.some((series) =>
    series.points.some(
      (point) =>
        options.emphasis.has(series.id) && (measureOf(point, options.metric)?.high ?? 0) > most,
    ),
  );
}

function isNumber(value: number | null): value is number {
  return value !== null;
}

/** Log axes are labelled at 1, 2 and 5 of each decade; more would collide. */
function tick(value: number, unit: Unit, log: boolean): string | null {
  if (log) {
    const lead = value / 10 ** Math.floor(Math.log10(value) + 1e-9);
    if (![1, 2, 5].includes(Math.round(lead * 100) / 100)) return null;
  }
  if (value === 0) return "0";
  return `${Number((value / unit.factor).toPrecision(6))}${unit.suffix}`;
}

function labelOptions(figures: Figures, options: SweepOptions): LabelOptions {
  return {
    theme: options.theme,
    width: options.labelWidth,
    texts: new Map(figures.series.map((series) => [series.id, series.label])),
  };
}

type TooltipOptions = NonNullable<
  NonNullable<NonNullable<SweepConfig["options"]>["plugins"]>["tooltip"]
>;

function tooltip(figures: Figures, unit: Unit, options: SweepOptions): TooltipOptions {
  const { theme } = options;
  const metric = metricOf(figures, options.metric);
  return {
    backgroundColor: theme.surface,
    borderColor: theme.grid,
    borderWidth: 1,
    titleColor: theme.ink,
    bodyColor: theme.ink,
    titleFont: { family: theme.font, size: 12 },
    bodyFont: { family: theme.font, size: 12 },
    cornerRadius: 6,
    padding: 10,
    boxPadding: 4,
    usePointStyle: true,
    filter: (item) => (item.dataset as SweepDataset).loud,
    itemSort: (a, b) => Number(b.parsed.y) - Number(a.parsed.y),
    callbacks: {
      title: (items) => (items[0] ? loadPoint(Number(items[0].parsed.x), figures.x.label) : ""),
      label: (item: TooltipItem<"line">) =>
        ` ${item.dataset.label}: ${spoken(item.raw as SweepPoint, unit, metric.unit)}`,
    },
  };
}

/** "52.3k req/s [51.0, 53.8], 3 trials": what a tooltip and the keyboard readout say. */
export function spoken(point: SweepPoint, unit: Unit, name: string): string {
  const per = name === "req/s" ? " req/s" : "";
  const half = halfWidth(point.low, point.high);
  const value = `${inUnit(point.y, unit, half)}${point.y === null ? "" : unit.suffix + per}`;
  const range = interval(point.low, point.high, unit);
  const notes = [
    plural(point.trials, "trial"),
    ...(point.overload ? ["overload"] : []),
    ...(point.failing ? ["errors above 1 %"] : []),
  ];
  return `${value}${range && ` ${range}`}, ${notes.join(", ")}`;
}
