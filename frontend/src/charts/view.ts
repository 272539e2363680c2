// A view of a comparison: everything that the page, the exports and the arrow keys ask about it.
import type { ChartConfiguration } from "chart.js";
import type { Figures, Metric, MetricId, X } from "../api/figures";
import type { RankedLoad } from "../query/query";
import type { Kind, Unit } from "../text/format";
import type { Size } from "./style/axes";
import type { ChartTheme } from "./style/theme";

/** The tabs that hold small charts. */
export const CHART_TABS = ["latency", "errors", "saturation"] as const;
export type ChartTab = (typeof CHART_TABS)[number];

export interface ChartOptions {
  readonly metric: MetricId;
  readonly logX: boolean;
  readonly logY: boolean;
  /** Series drawn in colour, by id; the others are grey. */
  readonly highlighted: ReadonlySet<string>;
  readonly theme: ChartTheme;
  readonly size: Size;
  /** Room for labels at the lines' ends, in pixels; 0 leaves the names to the legend. */
  readonly labelWidth: number;
  /** The place on the axis that is ranked. */
  readonly at: X | null;
  /** A latency limit in microseconds. */
  readonly limit: number | null;
  /** Whether only a part of the x axis is drawn, which then need not begin at zero. */
  readonly zoomed?: boolean;
  /**
   * Figures whose values the axes must hold too: those of all panels, so that panels share axes.
   */
  readonly scope?: Figures;
}

// biome-ignore lint/suspicious/noExplicitAny: each chart has points of its own
export type AnyConfig = ChartConfiguration<"line", any>;

/** What a chart shows, in sentences: the first can head the page. */
export interface Summary {
  readonly lead: string;
  readonly rest: string;
}

/** One point that the arrow keys reach. */
export interface Stop {
  /** The x the point stands for; null on an axis of percentiles. */
  readonly x: X | null;
  readonly text: string;
}

/** Numbers of a view that the table of figures does not hold: one row for each series. */
export interface ViewTable {
  readonly caption: string;
  readonly columns: readonly ViewColumn[];
  readonly rows: readonly {
    readonly series: string;
    readonly values: readonly (number | null)[];
  }[];
}

export interface ViewColumn {
  readonly label: string;
  readonly kind: Kind;
  readonly unit: Unit;
  /** Null where neither direction is better: a count of samples. */
  readonly better: "higher" | "lower" | null;
}

/** A place where a zoom of the x axis may begin or end. */
export interface Place {
  /** Its text in a link. */
  readonly text: string;
  /** Its value on the axis of the chart. */
  readonly at: number;
}

/** How the x axis of a view is enlarged. */
export interface ZoomAxis {
  /** The value on the axis that a link names; NaN where it names none. */
  readonly at: (figures: Figures, text: string) => number;
  /** In the order of the axis. */
  readonly places: (figures: Figures) => readonly Place[];
  /** What stands between two values of the axis, both included. */
  readonly crop: (figures: Figures, low: number, high: number) => Figures;
  /** "8 to 256 connections". */
  readonly name: (figures: Figures, from: Place, to: Place) => string;
}

export type Build = (figures: Figures, options: ChartOptions) => AnyConfig;

/** An axis that a trend lies on. */
export type TimeAxis = "version" | "date";

export interface View {
  /** Its value in a link: `view=…`. */
  readonly id: string;
  /** The name on its tab. */
  readonly name: (figures: Figures) => string;
  /** The name above the chart. */
  readonly title: (figures: Figures, metric: MetricId) => string;
  /** The chart; null where the view is the table of ratios. */
  readonly build: Build | null;
  /** Why there is nothing to draw, and what would help; null where there is something. */
  readonly empty: (figures: Figures, metric: MetricId) => string | null;
  /** What the marks mean, only those that occur. */
  readonly legend: (figures: Figures, options: ChartOptions) => string;
  readonly summary: (figures: Figures, metric: MetricId) => Summary;
  /** The points of one series for the arrow keys, in the order of the axis. */
  readonly stops: (figures: Figures, series: number, metric: MetricId) => readonly Stop[];
  /** By series id, how much the view is about the series: the largest are highlighted first. */
  readonly weights: (figures: Figures) => ReadonlyMap<string, number>;
  /** Ids of the series that have a line. */
  readonly lines: (figures: Figures) => readonly string[];
  /** Whether highlighted lines are named where they end. */
  readonly hasEndLabels: (figures: Figures) => boolean;
  /** Which axes may be logarithmic. */
  readonly logAxes: (figures: Figures) => { readonly x: boolean; readonly y: boolean };
  /** Null where there is no axis to enlarge: a table. */
  readonly zoom: ZoomAxis | null;
  /** Whether the view draws the chosen metric over the axis, as the small charts do. */
  readonly isByMetric: boolean;
  /** Whether its title says which direction is better. */
  readonly hasDirection: boolean;
  /**
   * For a view that does not draw the chosen metric: of which metrics the finding may head it.
   * Under any other metric its own summary heads it.
   */
  readonly isFindingOn?: (metric: Metric) => boolean;
  /** The place among the small charts, smallest first; null where there is nothing to show. */
  readonly cardRank?: (figures: Figures) => number | null;
  /** The tab of its small chart; without one, that of the metric. */
  readonly tab?: ChartTab;
  /** A table under the table of figures; null where there are no numbers for it. */
  readonly table?: (figures: Figures) => ViewTable | null;
  /** The query that opens the view, where it takes more than its name. */
  readonly open?: (query: string, load: RankedLoad | null, axis?: TimeAxis) => string;
  /** The query that leaves the view for one that `open` does not change. */
  readonly leave?: (query: string) => string;
}
