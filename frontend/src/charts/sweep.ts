// figures -> Chart.js configuration of one metric over the x axis. Pure: no DOM, no fetch.
import type { ChartConfiguration } from "chart.js";
import { HIGH_ERROR_RATE, ORDERED_FIELDS } from "../api/constants";
import {
  type Figures,
  isCategory,
  isFailing,
  measureOf,
  metricOf,
  type Point,
  type Series,
} from "../api/figures";
import {
  behindNumber,
  interval,
  inUnit,
  type Kind,
  kindOf,
  loadPoint,
  plural,
  unitFor,
} from "../text/format";
import { heldReach } from "./held_ends";
import { cutAbove } from "./outliers";
import { changeMarks } from "./plugins/change_marks";
import { cutPoints } from "./plugins/cut_points";
import { endLabels } from "./plugins/end_labels";
import { errorBars } from "./plugins/error_bars";
import { limitLine, loadLine } from "./plugins/guide_lines";
import { hoverPlugin } from "./plugins/hover";
import { loadMarks } from "./plugins/load_marks";
import { drawable, FAR_LIMIT, placeOf, type Scale, xScale, yScale } from "./style/axes";
import { baseOptions, CLIP_ABOVE, type LineStyle, lineStyles, pointFill } from "./style/line_style";
import type { SweepDataset, SweepPoint } from "./style/measured_points";
import { isSingle, sideStep } from "./style/side_step";
import { faint } from "./style/theme";
import { type TooltipText, tooltip } from "./tooltip";
import type { ChartOptions } from "./view";

export const FAILING = `errors above ${HIGH_ERROR_RATE * 100} %`;

export type SweepConfig = ChartConfiguration<"line", SweepPoint[]>;

export interface SweepOptions extends ChartOptions {
  /** Steps and change marks, on an axis that need not start at zero. */
  readonly trend?: boolean;
}

export function sweepChart(figures: Figures, options: SweepOptions): SweepConfig {
  const kind = kindOf(metricOf(figures, options.metric).unit);
  const lookOf = lineStyles(figures, options);
  const datasets = figures.series.map((series) =>
    dataset(figures, series, lookOf(series), options),
  );
  const place = placeOf(figures);
  const { theme, size } = options;
  return {
    type: "line",
    data: { datasets },
    options: {
      ...baseOptions(theme, labelRoom(figures, options)),
      scales: {
        x: xScale(figures, options),
        y: yAxis(figures, options),
      },
      plugins: { tooltip: tooltip(options.theme, tooltipText(figures, kind)) },
    },
    plugins: [
      // Where all stand at one load, beside each other, it would stand for the one in the middle.
      loadLine(options.at === null || isSingle(figures) ? null : place(options.at), theme),
      limitLine(limitIn(options), theme, size),
      ...(options.trend ? [changeMarks(figures, options.metric, theme, size)] : []),
      errorBars(theme, size),
      loadMarks(figures, options.metric, size),
      ...(hasCutPoints(figures, options) ? [cutPoints(kind, theme, size)] : []),
      hoverPlugin(),
      endLabels({ theme, width: labelRoom(figures, options), series: figures.series }),
    ],
  };
}

function yAxis(figures: Figures, options: SweepOptions): Scale {
  const { theme, size, metric } = options;
  const extent = yExtent(options.scope ?? figures, options);
  const kind = kindOf(metricOf(figures, metric).unit);
  const scale = yScale({ theme, size, kind, log: usesLogY(options), ...extent });
  return startsAboveZero(figures, options) ? scaleAboveZero(scale, extent) : scale;
}

function limitIn(options: SweepOptions): number | null {
  return options.metric === "p99" ? options.limit : null;
}

/** A line between two hosts would mean nothing. */
const ORDERED: ReadonlySet<string> = new Set(ORDERED_FIELDS);

export function joinsPoints(figures: Figures): boolean {
  return !isCategory(figures) || ORDERED.has(figures.x.field);
}

function dataset(
  figures: Figures,
  series: Series,
  look: LineStyle,
  options: SweepOptions,
): SweepDataset {
  const points = sweepPoints(figures, series, options);
  const skips = gapsIn(figures, points);
  return {
    ...look,
    data: points,
    ...(hasCutPoints(figures, options) ? { clip: CLIP_ABOVE } : {}),
    spanGaps: false,
    showLine: joinsPoints(figures),
    ...(options.trend ? { stepped: "middle" as const } : {}),
    ...(skips.size > 0 ? { segment: gapStyle(skips, look, isCategory(figures)) } : {}),
    pointBackgroundColor: pointFill(look, points, options.theme.surface),
  };
}

function sweepPoints(figures: Figures, series: Series, options: SweepOptions): SweepPoint[] {
  const place = placeOf(figures);
  const aside = sideStep(figures, series, options.highlighted) * roomAside(figures, options);
  return series.points
    .map((point) => sweepPoint(point, place(point.x) + aside, options))
    .sort((a, b) => a.x - b.x);
}

/** The part of the x axis for the series at one place: none where lines join several places. */
function roomAside(figures: Figures, options: SweepOptions): number {
  if (!joinsPoints(figures)) return 1;
  if (!isSingle(figures) || options.logX || options.zoomed) return 0;
  const { min, max } = xScale(figures, options);
  return max - min;
}

function sweepPoint(point: Point, x: number, options: SweepOptions): SweepPoint {
  const measure = measureOf(point, options.metric);
  const log = usesLogY(options);
  return {
    x,
    at: point.x,
    y: drawable(measure?.value, log),
    // As they are: a log axis without a place for an end says that the interval goes on.
    low: measure?.low ?? null,
    high: measure?.high ?? null,
    each: (measure?.each ?? []).map((one) => drawable(one, log)).filter((one) => one !== null),
    step: measure?.step ?? null,
    overload: point.overload === true,
    failing: isFailing(point),
    trials: point.trials,
  };
}

function usesLogY(options: SweepOptions): boolean {
  return options.logY && !options.metric.startsWith("error_");
}

/** The points that a line reaches only by passing over an x where its series has none. */
function gapsIn(figures: Figures, points: readonly SweepPoint[]): ReadonlySet<number> {
  const ranks = new Map(figures.x.values.map((value, rank) => [value, rank]));
  const gaps = new Set<number>();
  points.forEach((point, i) => {
    const previous = points[i - 1];
    if (previous && (ranks.get(point.at) ?? 0) - (ranks.get(previous.at) ?? 0) > 1) gaps.add(i);
  });
  return gaps;
}

/** Whether a line of the chart passes over an x that was not measured. */
export function hasGaps(figures: Figures): boolean {
  if (!joinsPoints(figures) || isCategory(figures)) return false;
  const ranks = new Map(figures.x.values.map((value, rank) => [value, rank]));
  return figures.series.some((series) => {
    const places = series.points.map((point) => ranks.get(point.x) ?? 0).sort((a, b) => a - b);
    return places.some((place, i) => i > 0 && place - (places[i - 1] ?? place) > 1);
  });
}

const FAINT = 0.5;

/**
 * Faint where a load between was not measured, with its own dash: that tells the series. No line
 * at all across a missing name.
 */
function gapStyle(skips: ReadonlySet<number>, look: LineStyle, category: boolean): object {
  const colour = category ? "transparent" : faint(look.borderColor, FAINT);
  return {
    borderColor: ({ p1DataIndex }: { p1DataIndex: number }) =>
      skips.has(p1DataIndex) ? colour : undefined,
  };
}

interface Extent {
  readonly least: number;
  readonly most: number;
  /** Whether points lie above `most`. */
  readonly hasCutPoints: boolean;
  /** Whether points, intervals or trials lie above `most`. */
  readonly isCut: boolean;
}

const extents = new WeakMap<Figures, Map<string, Extent>>();

/** What the y axis shows: every value, and the ends and trials that are not too far off. */
function yExtent(figures: Figures, options: SweepOptions): Extent {
  const byOptions = extents.get(figures) ?? new Map<string, Extent>();
  extents.set(figures, byOptions);
  // Everything that the extent depends on: charts are configured again when other series are
  // highlighted.
  const key = JSON.stringify([options.metric, usesLogY(options), limitIn(options)]);
  const extent = byOptions.get(key) ?? measureExtent(figures, options);
  byOptions.set(key, extent);
  return extent;
}

function measureExtent(figures: Figures, options: SweepOptions): Extent {
  const all = figures.series.flatMap((series) =>
    series.points.map((point) => ({ series: series.id, ...sweepPoint(point, 0, options) })),
  );
  const cut = cutOf(figures, all, options);
  const points = all.filter(({ y }) => cut === null || (y !== null && y <= cut));
  const values = points.map((point) => point.y).filter((value) => value !== null);
  const most = Math.max(0, ...values);
  const least = values.length > 0 ? Math.min(...values) : 0;
  const limit = limitIn(options) ?? 0;
  const ends = endsBySeries(points);
  // Where every figure is 0, below the step of the tool, no interval can squeeze them.
  const top =
    most > 0
      ? most * heldReach(ends.map((own) => own.map((end) => end / most)))
      : Math.max(0, ...ends.flat());
  const bottom = least / heldReach(ends.map((own) => own.map((end) => least / end)));
  const isLimitNear = limit > 0 && limit <= most * FAR_LIMIT && limit >= least / FAR_LIMIT;
  const held = isLimitNear ? [limit] : [];
  return {
    least: Math.min(bottom, ...held),
    most: Math.max(top, ...held),
    hasCutPoints: cut !== null,
    isCut: cut !== null || ends.flat().some((end) => end > Math.max(top, ...held)),
  };
}

type PointOfSeries = SweepPoint & { readonly series: string };

/** The ends of its interval, and its trials. */
function endsOf({ low, high, each }: SweepPoint): number[] {
  return [low, high, ...each].filter((end) => end !== null);
}

/** The ends of the intervals and the trials of each series. */
function endsBySeries(points: readonly PointOfSeries[]): readonly (readonly number[])[] {
  const ends = new Map<string, number[]>();
  for (const point of points) {
    const own = endsOf(point).filter((end) => end > 0);
    ends.set(point.series, [...(ends.get(point.series) ?? []), ...own]);
  }
  return [...ends.values()];
}

/**
 * The latency above which points are cut off, if any. A throughput far above the others is the
 * answer to the question, and is never cut off.
 */
function cutOf(
  figures: Figures,
  points: readonly PointOfSeries[],
  options: SweepOptions,
): number | null {
  const isLatency = kindOf(metricOf(figures, options.metric).unit) === "time";
  if (!isLatency || usesLogY(options)) return null;
  return cutAbove(
    points.flatMap(({ series, at, y }) => (y === null ? [] : [{ series, x: at, y }])),
  );
}

/** Whether points are above the chart, so far are they from the others. */
export function hasCutPoints(figures: Figures, options: SweepOptions): boolean {
  return yExtent(options.scope ?? figures, options).hasCutPoints;
}

/** Whether an interval or a trial of a drawn point lies beyond the chart: see the table. */
export function hasCutInterval(figures: Figures, options: SweepOptions): boolean {
  const { min, suggestedMin, max } = yAxis(figures, options);
  // The library makes room for everything that is not cut.
  const [bottom, top] = [min ?? suggestedMin ?? 0, max ?? Number.POSITIVE_INFINITY];
  const coloured = figures.series.filter(({ id }) => options.highlighted.has(id));
  return coloured.some(({ points }) =>
    points.some((point) => {
      const drawn = sweepPoint(point, 0, options);
      if (drawn.y === null || drawn.y > top) return false;
      return endsOf(drawn).some((end) => end > top || end < bottom);
    }),
  );
}

/** A step of three percent between versions is lost on an axis from zero. */
export function startsAboveZero(figures: Figures, options: SweepOptions): boolean {
  if (!options.trend || usesLogY(options)) return false;
  const { least, most } = yExtent(options.scope ?? figures, options);
  return least > most * 0.4;
}

function scaleAboveZero(scale: object, { least, most }: Pick<Extent, "least" | "most">): object {
  const room = (most - least || most) * 0.15;
  return { ...scale, min: undefined, suggestedMin: least - room, suggestedMax: most + room };
}

/** A label stands at the end of a line; where there is no line, the legend has to do. */
function labelRoom(figures: Figures, options: SweepOptions): number {
  return joinsPoints(figures) ? options.labelWidth : 0;
}

function tooltipText(figures: Figures, kind: Kind): TooltipText {
  return {
    order: (a, b) => Number(b.parsed.y) - Number(a.parsed.y),
    title: ([first]) => (first ? loadPoint((first.raw as SweepPoint).at, figures.x.label) : ""),
    label: (item) => ` ${item.dataset.label}: ${pointText(item.raw as SweepPoint, kind)}`,
  };
}

/** "52,300 req/s [51,000, 53,800], 3 trials": what a tooltip and the keyboard readout say. */
export function pointText(point: Omit<SweepPoint, "at" | "x" | "each">, kind: Kind): string {
  const { y, low, high, step } = point;
  // In its own unit: "620 req/s" also beside a server of many thousands.
  const unit = unitFor(kind, [Math.max(y ?? 0, step ?? 0)]);
  const suffix = y === null ? "" : behindNumber(kind, unit);
  const value = `${inUnit(y, unit, step)}${suffix}`;
  const range = interval(low, high, unit);
  const notes = [
    plural(point.trials, "trial"),
    ...(point.overload ? ["overload"] : []),
    ...(point.failing ? [FAILING] : []),
  ];
  return `${value}${range && ` ${range}`}, ${notes.join(", ")}`;
}

/**
 * Series with a change first: the headline is about them. Then those with the most points, but
 * where a ranking orders them already.
 */
export function pointWeights(figures: Figures): ReadonlyMap<string, number> {
  return weightsBy(figures, (points) => points);
}

/**
 * As above, but every line counts alike: the highest line is not grey because it was measured at
 * fewer loads. A single point draws no line.
 */
export function lineWeights(figures: Figures): ReadonlyMap<string, number> {
  return weightsBy(figures, (points) => Math.min(points, 2));
}

function weightsBy(
  figures: Figures,
  weightOf: (points: number) => number,
): ReadonlyMap<string, number> {
  const changed = new Set((figures.changes ?? []).map((change) => change.series));
  if (changed.size === 0 && figures.ranking) return new Map();
  return new Map(
    figures.series.map(({ id, points }) => [
      id,
      (changed.has(id) ? 1_000 : 0) + weightOf(points.length),
    ]),
  );
}
