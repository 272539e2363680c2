// How a line and its points look, the same in every chart.
import type { Chart, ChartType } from "chart.js";
import type { Series } from "../../api/figures";
import { isolated, short } from "../../text/format";
import type { Size } from "./axes";
import { colourOf, dashOf, type Marker, markerOf } from "./series_style";
import type { ChartTheme } from "./theme";

export interface LineStyleOptions {
  readonly theme: ChartTheme;
  readonly highlighted: ReadonlySet<string>;
  readonly size: Size;
  /** So many points that grey context does without markers. */
  readonly dense: boolean;
}

const DENSE = 400;
/** The radius of a marker among so many. */
export const DOT = 2.25;

export function isDense(series: readonly Series[]): boolean {
  return series.reduce((sum, line) => sum + line.points.length, 0) > DENSE;
}

/** What the marks and the highlight read back from any dataset. */
export interface DrawnSeries {
  readonly seriesId: string;
  readonly highlighted: boolean;
  /** Its own colour, also while it is grey context. */
  readonly ownColour: string;
  readonly ownDash: readonly number[];
}

/** The own colour of each series on a chart, by id. */
export function seriesColours(chart: Chart<ChartType>): ReadonlyMap<string, string> {
  const drawn = chart.data.datasets as unknown as readonly DrawnSeries[];
  return new Map(drawn.map(({ seriesId, ownColour }) => [seriesId, ownColour]));
}

export interface LineStyle extends DrawnSeries {
  readonly label: string;
  /** Loud lines are drawn last, so that context never covers them. */
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

export function lineStyle(series: Series, slot: number, options: LineStyleOptions): LineStyle {
  const loud = options.highlighted.has(series.id);
  const ownColour = colourOf(slot, options.theme);
  const colour = loud ? ownColour : options.theme.context;
  const radius = options.dense ? DOT : options.size === "main" ? 4.5 : 3;
  return {
    seriesId: series.id,
    highlighted: loud,
    ownColour,
    ownDash: dashOf(slot),
    label: isolated(short(series.label)),
    order: loud ? 0 : 1,
    clip: false,
    tension: 0,
    borderColor: colour,
    borderWidth: loud ? 2 : 1.25,
    // Dashes tell coloured lines apart; on grey ones they would only be slow to paint.
    borderDash: loud ? dashOf(slot) : [],
    pointStyle: markerOf(slot),
    pointRadius: loud ? radius : options.dense ? 0 : radius - 1.5,
    pointHoverRadius: radius + 1.5,
    pointHitRadius: 8,
    pointBorderColor: colour,
    pointBorderWidth: 1.75,
  };
}

/**
 * Hollow where overloaded. One colour for all points where that will do: the library resolves
 * a list for each point anew, which is most of the time a large chart takes.
 */
export function pointFill(
  look: LineStyle,
  points: readonly { readonly overload: boolean }[],
  surface: string,
): string | string[] {
  if (look.pointRadius === 0 || !points.some((point) => point.overload)) return look.borderColor;
  return points.map((point) => (point.overload ? surface : look.borderColor));
}

/** Options every chart has: no motion on data, room for direct labels, one font. */
export function baseOptions(theme: ChartTheme, right: number): object {
  return {
    responsive: true,
    maintainAspectRatio: false,
    animation: false,
    events: ["mousemove", "mouseout", "click", "touchstart", "touchmove"],
    layout: { padding: { top: 8, right: Math.max(10, right), bottom: 0, left: 0 } },
    font: { family: theme.font, size: 12 },
  };
}
