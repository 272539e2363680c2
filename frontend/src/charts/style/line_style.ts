// How a line and its points look, the same in every chart.
import type { Chart, ChartType } from "chart.js";
import type { Figures, Series } from "../../api/figures";
import { isolated, short } from "../../text/format";
import type { Size } from "./axes";
import { colourOf, dashOf, type Marker, markerOf, seriesSlots } from "./series_style";
import type { ChartTheme } from "./theme";

export interface LineStyleOptions {
  readonly theme: ChartTheme;
  readonly highlighted: ReadonlySet<string>;
  readonly size: Size;
  readonly scope?: Figures;
}

const DENSE = 400;
/** So many lines leave no room for the dots of their trials either. */
const MANY_LINES = 12;
/** The radius of a marker on such a chart. */
export const DOT = 2.25;

/** Whether a chart has so many points that grey lines have no markers. */
export function isDense(series: readonly Series[]): boolean {
  if (series.length > MANY_LINES) return true;
  return series.reduce((sum, line) => sum + line.points.length, 0) > DENSE;
}

/** The part of a dataset that plugins and tooltips read. */
export interface DrawnSeries {
  readonly seriesId: string;
  readonly highlighted: boolean;
  /** The colour of the series, also while it is drawn grey. */
  readonly ownColour: string;
  readonly ownDash: readonly number[];
}

/** The colour of each series on a chart, by id. */
export function seriesColours(chart: Chart<ChartType>): ReadonlyMap<string, string> {
  const drawn = chart.data.datasets as unknown as readonly DrawnSeries[];
  return new Map(drawn.map(({ seriesId, ownColour }) => [seriesId, ownColour]));
}

export interface LineStyle extends DrawnSeries {
  readonly label: string;
  /** Highlighted lines are drawn last, so that grey lines never cover them. */
  readonly order: 0 | 1;
  readonly clip: false;
  readonly tension: 0;
  readonly borderColor: string;
  readonly borderWidth: number;
  readonly borderDash: number[];
  readonly pointStyle: Marker;
  readonly pointRadius: number;
  readonly pointHoverRadius: number;
  readonly pointHitRadius: number;
  readonly pointBorderColor: string;
  readonly pointBorderWidth: number;
}

/** A line to a point above the chart ends at its edge; markers at the other edges stay whole. */
export const CLIP_ABOVE = { top: 0, right: 20, bottom: 20, left: 20 } as const;

/** How each series of a chart looks: on charts of one scope the same. */
export function lineStyles(
  figures: Figures,
  options: LineStyleOptions,
): (series: Series) => LineStyle {
  const slots = seriesSlots(options.scope ?? figures);
  const dense = isDense(figures.series);
  return (series) => lineStyle(series, slots.get(series.id) ?? series.slot, dense, options);
}

function lineStyle(
  series: Series,
  slot: number,
  dense: boolean,
  options: LineStyleOptions,
): LineStyle {
  const highlighted = options.highlighted.has(series.id);
  const ownColour = colourOf(slot, options.theme);
  const colour = highlighted ? ownColour : options.theme.context;
  const radius = dense ? DOT : options.size === "main" ? 4.5 : 3;
  return {
    seriesId: series.id,
    highlighted,
    ownColour,
    ownDash: dashOf(slot),
    label: isolated(short(series.label)),
    order: highlighted ? 0 : 1,
    clip: false,
    tension: 0,
    borderColor: colour,
    borderWidth: highlighted ? 2 : 1.25,
    // Dashes tell coloured lines apart; on grey ones they would only be slow to paint.
    borderDash: highlighted ? dashOf(slot) : [],
    pointStyle: markerOf(slot),
    pointRadius: highlighted ? radius : dense ? 0 : radius - 1.5,
    pointHoverRadius: radius + 1.5,
    pointHitRadius: 8,
    pointBorderColor: colour,
    pointBorderWidth: 1.75,
  };
}

/**
 * Hollow where overloaded; one colour for all points where none is. The library resolves a list
 * of colours for each point, which takes most of the time of a large chart.
 */
export function pointFill(
  look: LineStyle,
  points: readonly { readonly overload: boolean }[],
  surface: string,
): string | string[] {
  if (look.pointRadius === 0 || !points.some((point) => point.overload)) return look.borderColor;
  return points.map((point) => (point.overload ? surface : look.borderColor));
}

/** Options every chart has: sorted points, no motion, room for direct labels, one font. */
export function baseOptions(theme: ChartTheme, right: number): object {
  return {
    responsive: true,
    maintainAspectRatio: false,
    animation: false,
    parsing: false,
    normalized: true,
    interaction: { mode: "nearest", axis: "x", intersect: false },
    events: ["mousemove", "mouseout", "click", "touchstart", "touchmove"],
    layout: { padding: { top: 8, right: Math.max(10, right), bottom: 0, left: 0 } },
    font: { family: theme.font, size: 12 },
  };
}
