// How a line, its points and a tooltip look, the same in every chart.
import type { Chart, ChartType, TooltipCallbacks, TooltipItem, TooltipOptions } from "chart.js";
import type { Series } from "../../api/figures";
import { isolated, short } from "../../text/format";
import { litOn } from "../plugins/hover";
import type { Size } from "./axes";
import { colourOf, dashOf, type Marker, markerOf } from "./series_style";
import type { ChartTheme } from "./theme";

export interface LookOptions {
  readonly theme: ChartTheme;
  readonly emphasis: ReadonlySet<string>;
  readonly size: Size;
  /** So many points that grey context does without markers. */
  readonly dense: boolean;
}

const DENSE = 400;
/** The radius of a marker among so many. */
export const DOT = 2.25;

export function isDense(series: readonly Series[]): boolean {
  return series.reduce((sum, one) => sum + one.points.length, 0) > DENSE;
}

/** What the marks and the highlight read back from any dataset. */
export interface Drawn {
  readonly seriesId: string;
  readonly loud: boolean;
  /** Its own colour, also while it is grey context. */
  readonly ownColour: string;
  readonly ownDash: readonly number[];
}

/** The own colour of each series on a chart, by id. */
export function coloursOn(chart: Chart<ChartType>): ReadonlyMap<string, string> {
  const drawn = chart.data.datasets as unknown as readonly Drawn[];
  return new Map(drawn.map(({ seriesId, ownColour }) => [seriesId, ownColour]));
}

export interface Look extends Drawn {
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

export function lookOf(series: Series, slot: number, options: LookOptions): Look {
  const loud = options.emphasis.has(series.id);
  const ownColour = colourOf(slot, options.theme);
  const colour = loud ? ownColour : options.theme.context;
  const radius = options.dense ? DOT : options.size === "main" ? 4.5 : 3;
  return {
    seriesId: series.id,
    loud,
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
export function filling(
  look: Look,
  points: readonly { readonly overload: boolean }[],
  surface: string,
): string | string[] {
  if (look.pointRadius === 0 || !points.some((point) => point.overload)) return look.borderColor;
  return points.map((point) => (point.overload ? surface : look.borderColor));
}

type Item = TooltipItem<"line">;

export interface Told {
  readonly title: (items: Item[]) => string;
  readonly label: (item: Item) => string;
  readonly order?: (a: Item, b: Item) => number;
  /** Whether a value is worth a row at all. */
  readonly tells?: (value: number | null) => boolean;
}

interface TooltipLook extends Partial<Omit<TooltipOptions<"line">, "callbacks">> {
  readonly callbacks: Partial<TooltipCallbacks<"line">>;
}

/** The line pointed at, then the loud ones; those that are grey are counted. */
export function tooltip(theme: ChartTheme, told: Told): TooltipLook {
  const { title, label, order = () => 0, tells = () => true } = told;
  return {
    ...tooltipLook(theme),
    filter: (item, index, items) => {
      // A pointer that came in one move rests before its line is lit: then the first few are told.
      const stands = items.some((one) => stood(one) && tells(one.parsed.y));
      return (stands ? stood(item) : index < FEW_GREY) && tells(item.parsed.y);
    },
    itemSort: (a, b) => Number(isLit(b)) - Number(isLit(a)) || order(a, b),
    callbacks: {
      title,
      label,
      labelColor: (item) => {
        const colour = drawnBy(item).ownColour;
        return { borderColor: colour, backgroundColor: colour };
      },
      footer(items) {
        const more = this.getActiveElements().filter(({ datasetIndex, index }) =>
          tells(valueAt(this.chart, datasetIndex, index)),
        );
        return items.length < more.length ? `and ${more.length - items.length} more` : "";
      },
    },
  };
}

const FEW_GREY = 3;

function stood(item: Item): boolean {
  return drawnBy(item).loud || isLit(item);
}

function drawnBy(item: Item): Drawn {
  return item.dataset as unknown as Drawn;
}

function isLit(item: Item): boolean {
  return litOn(item.chart) === drawnBy(item).seriesId;
}

function valueAt(chart: Chart, dataset: number, index: number): number | null {
  const data = chart.data.datasets[dataset]?.data as unknown as readonly { y: number | null }[];
  return data[index]?.y ?? null;
}

function tooltipLook(theme: ChartTheme): Omit<TooltipLook, "callbacks"> {
  return {
    backgroundColor: theme.surface,
    borderColor: theme.muted,
    borderWidth: 1,
    titleColor: theme.ink,
    bodyColor: theme.ink,
    titleFont: { family: theme.font, size: 12 },
    bodyFont: { family: theme.font, size: 12 },
    footerColor: theme.muted,
    footerFont: { family: theme.font, size: 12, weight: "normal" },
    cornerRadius: 6,
    padding: 10,
    boxPadding: 4,
    usePointStyle: true,
  };
}

/** Options every chart has: no motion on data, room for direct labels, one font. */
export function frame(theme: ChartTheme, right: number): object {
  return {
    responsive: true,
    maintainAspectRatio: false,
    animation: false,
    events: ["mousemove", "mouseout", "click", "touchstart", "touchmove"],
    layout: { padding: { top: 8, right: Math.max(10, right), bottom: 0, left: 0 } },
    font: { family: theme.font, size: 12 },
  };
}
