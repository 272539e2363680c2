// Which chart answers which question: its name, its configuration, and why it may be empty.
import type { ChartConfiguration } from "chart.js";
import {
  type Figures,
  isCategory,
  type Metric,
  type MetricId,
  metricOf,
  type X,
} from "../api/figures";
import type { View } from "../query/query";
import { loadPoint, short } from "../text/format";
import { bandsOf, errorsChart, unclassified } from "./errors";
import { curvesOf, ninesChart, ninesTitle } from "./percentiles";
import { sharedPlace } from "./ratios";
import type { Size } from "./style/axes";
import type { ChartTheme } from "./style/theme";
import { leadOf, restOf, summaryOf } from "./summary";
import { joinsPoints, sweepChart, trendChart } from "./sweep";
import { hasTradeoff, latencyOf, tradeoffChart } from "./tradeoff";

/** What is drawn as a chart; the ratios are a table. */
export type ChartView = Exclude<View, "ratios">;

export interface ViewOptions {
  readonly metric: MetricId;
  readonly logX: boolean;
  readonly logY: boolean;
  readonly emphasis: ReadonlySet<string>;
  readonly theme: ChartTheme;
  readonly size: Size;
  /** Room for direct labels, in pixels; 0 leaves them to the legend. */
  readonly labelWidth: number;
  readonly at: X | null;
  /** Microseconds. */
  readonly limit: number | null;
  readonly scope?: Figures;
}

// biome-ignore lint/suspicious/noExplicitAny: each chart has points of its own
export type AnyConfig = ChartConfiguration<"line", any>;

export function viewChart(figures: Figures, view: ChartView, options: ViewOptions): AnyConfig {
  switch (view) {
    case "nines":
      return ninesChart(figures, options);
    case "tradeoff":
      return tradeoffChart(figures, {
        ...options,
        logX: false,
        latency: latencyOf(figures, options.metric),
      });
    case "errors":
      return errorsChart(figures, options);
    case "trend":
      return trendChart(figures, options);
    default:
      return sweepChart(figures, options);
  }
}

const VIEW_NAMES: Readonly<Record<Exclude<View, "sweep">, string>> = {
  nines: "Percentiles",
  tradeoff: "Latency and throughput",
  errors: "Errors",
  ratios: "Ratios",
  trend: "Trend",
};

/** The name on the view's tab; the plain one is named after its axis. */
export function viewName(figures: Figures, view: View): string {
  return view === "sweep" ? `By ${figures.x.label.toLowerCase()}` : VIEW_NAMES[view];
}

/** Which axes of a view may be logarithmic. */
export function logAxes(
  figures: Figures,
  view: View,
): { readonly x: boolean; readonly y: boolean } {
  const loads = (view === "sweep" || view === "errors" || view === "trend") && !isCategory(figures);
  return { x: loads, y: view !== "errors" && view !== "ratios" };
}

/** Ticks of times and shares carry their unit; those of a rate cannot, so its name does. */
export function metricName(metric: Metric): string {
  return metric.unit === "req/s" ? `${metric.label} (req/s)` : metric.label;
}

export function viewTitle(figures: Figures, view: View, metric: MetricId): string {
  const label = metricName(metricOf(figures, metric));
  const x = figures.x.label.toLowerCase();
  switch (view) {
    case "nines":
      return ninesTitle(figures);
    case "tradeoff":
      return `${metricOf(figures, latencyOf(figures, metric)).label} against achieved throughput`;
    case "errors":
      return `Failed attempts by class against ${x}`;
    case "ratios":
      return figures.ratios
        ? `${metricOf(figures, figures.metric).label} as a ratio to ${short(figures.ratios.baseline.label)}${sharedPlace(figures)}`
        : "Ratios";
    case "trend":
      return `${label} over ${x}`;
    default:
      return `${label} against ${x}`;
  }
}

/**
 * The finding, where it is about what is shown; else what the view itself tells, or the name of the
 * metric that is shown.
 */
export function headline(figures: Figures, view: View, metric: MetricId): string {
  const own = ownHeadline(figures, view, metric);
  if (own !== null) return own;
  // Ratios are of the metric that was asked for, whatever is chosen since.
  const told = view === "ratios" || metric === figures.metric;
  return told ? figures.finding : metricOf(figures, metric).label;
}

/** What heads percentiles and errors: the finding is of a metric that they do not show. */
export function ownHeadline(figures: Figures, view: View, metric: MetricId): string | null {
  if (whyEmpty(figures, view, metric) !== null) return null;
  const { id, unit } = metricOf(figures, metric);
  const shown = view === "nines" ? unit === "us" : id.startsWith("error_");
  return shown && metric === figures.metric ? null : leadOf(figures, view);
}

/** What is said of the view below its name: nothing twice, and nothing where nothing is drawn. */
export function saidBelow(figures: Figures, view: View, metric: MetricId): string {
  if (whyEmpty(figures, view, metric) !== null) return "";
  const own = ownHeadline(figures, view, metric);
  return own === null ? summaryOf(figures, view, metric) : restOf(figures, view);
}

/** Why another metric is shown than was asked for; null where it is shown. */
export function notHeld(figures: Figures, asked: string, shown: MetricId): string | null {
  if (asked === shown) return null;
  const label = figures.metrics.find((metric) => metric.id === asked)?.label;
  return `These figures hold no ${label ?? `metric “${short(asked)}”`}: ${metricOf(figures, shown).label} is shown.`;
}

/** Why a view has nothing to draw, and what would give it something; null where it has. */
export function whyEmpty(figures: Figures, view: View, metric: MetricId): string | null {
  const at = figures.ranking?.x ?? figures.curves?.at;
  if (view === "nines" && curvesOf(figures).length === 0) {
    const where = at === undefined ? "" : ` at ${loadPoint(at, figures.x.label)}`;
    return `No series has a histogram${where}: a percentile curve needs every latency, from the load tool's samples or its full distribution.`;
  }
  if (view === "tradeoff" && !hasTradeoff(figures, latencyOf(figures, metric))) {
    return "No latency is known for these trials.";
  }
  if (view === "ratios" && !figures.ratios) {
    return figures.outcome.status === "not_comparable" && !figures.outcome.overridden
      ? "Ratios are withheld: these series were not measured under like conditions."
      : "A table of ratios needs two or more workloads and a baseline that was measured on them.";
  }
  if (view === "trend" && figures.x.field !== "version" && figures.x.field !== "date") {
    return `A trend is over versions or dates: these figures lie over ${figures.x.label.toLowerCase()}.`;
  }
  if (view === "trend" && figures.x.values.length < 2) {
    return `A trend needs two or more values of ${figures.x.label.toLowerCase()}; there ${figures.x.values.length === 1 ? "is one" : "are none"}.`;
  }
  return null;
}

/** Whether every line that is drawn is named at its end; a legend has to do where one is not. */
export function namedAtEnds(figures: Figures, view: View, emphasis: ReadonlySet<string>): boolean {
  if (view === "ratios") return true;
  return labelsEnds(figures, view) && drawnIn(figures, view).every((id) => emphasis.has(id));
}

/** The series that have a line in the view. */
export function drawnIn(figures: Figures, view: ChartView): readonly string[] {
  if (view === "nines") return curvesOf(figures).map((curve) => curve.series);
  return figures.series.map((series) => series.id);
}

/** Whether the view names its loud lines where they end. */
export function labelsEnds(figures: Figures, view: ChartView): boolean {
  if (figures.panels || view === "errors") return false;
  if (view === "sweep" || view === "trend") return joinsPoints(figures);
  return view !== "tradeoff" || !isCategory(figures);
}

/** What the errors chart cannot show, said under it. */
export function errorsNote(figures: Figures): string {
  const none = bandsOf(figures).length === 1;
  const unknown = unclassified(figures);
  const parts = [
    ...(unknown > 0
      ? [
          `${unknown} load point${unknown === 1 ? "" : "s"} with failures of unknown class: in “all failures” only`,
        ]
      : []),
    ...(none && unknown === 0
      ? ["no failure has a class"]
      : ["shares of all attempts, one scale in every band"]),
  ];
  return parts.join(" · ");
}
