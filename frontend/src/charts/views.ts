// The table of views. A new view is one more entry here: `scripts/fix` gives its id to the service.
import { type Figures, isCategory, type Metric, type MetricId, metricOf } from "../api/figures";
import { type RankedLoad, valueIn, withValue } from "../query/query";
import { short } from "../text/format";
import { errorsChart, hasErrorClasses, whyNoErrors, worstShares } from "./errors";
import { errorsLegend, percentilesLegend, sweepLegend, tradeoffLegend } from "./legends";
import { whyNoValues } from "./missing_metric";
import {
  curveWeights,
  percentilesChart,
  percentilesTitle,
  percentileTable,
  shownCurves,
  whyNoCurves,
} from "./percentiles";
import { sharedPlace, whyNoRatios } from "./ratios";
import { errorStops, percentileStops, sweepStops, tradeStops } from "./stops";
import {
  errorsSummary,
  percentilesSummary,
  ratiosSummary,
  sweepSummary,
  tradeoffSummary,
  trendSummary,
} from "./summary";
import { joinsPoints, lineWeights, pointWeights, sweepChart } from "./sweep";
import { hasTradeoff, latencyOf, tradeoffChart } from "./tradeoff";
import { leaveTrend, openTrend, trendChart, whyNoTrend } from "./trend";
import type { TimeAxis, View } from "./view";
import { overPercentiles, overPlaces, overRates } from "./zoom_axes";

const SWEEP: View = {
  id: "sweep",
  name: (figures) => `By ${axisName(figures)}`,
  title: (figures, metric) => `${metricTitle(figures, metric)} against ${axisName(figures)}`,
  build: sweepChart,
  empty: whyNoValues,
  legend: sweepLegend,
  summary: sweepSummary,
  stops: sweepStops,
  weights: lineWeights,
  lines: everySeries,
  hasEndLabels: joinsPoints,
  logAxes: (figures) => ({ x: !isCategory(figures), y: true }),
  zoom: overPlaces,
  isByMetric: true,
  hasDirection: true,
};

export const VIEWS: readonly View[] = [
  SWEEP,
  {
    id: "nines",
    name: () => "Percentiles",
    title: percentilesTitle,
    build: percentilesChart,
    empty: whyNoCurves,
    legend: percentilesLegend,
    summary: percentilesSummary,
    stops: percentileStops,
    weights: curveWeights,
    lines: (figures) => shownCurves(figures).map((curve) => curve.series),
    hasEndLabels: () => true,
    logAxes: () => ({ x: false, y: true }),
    zoom: overPercentiles,
    isByMetric: false,
    hasDirection: false,
    isFindingOn: (metric) => metric.unit === "us",
    cardRank: (figures) => (shownCurves(figures).length > 0 ? 2 : null),
    tab: "latency",
    table: percentileTable,
  },
  {
    id: "tradeoff",
    name: () => "Latency and throughput",
    title: (figures, metric) =>
      `${metricOf(figures, latencyOf(figures, metric)).label} against achieved throughput`,
    build: tradeoffChart,
    empty: (figures, metric) =>
      hasTradeoff(figures, latencyOf(figures, metric))
        ? null
        : "No latency is known for these trials.",
    legend: tradeoffLegend,
    summary: tradeoffSummary,
    stops: tradeStops,
    weights: lineWeights,
    lines: everySeries,
    hasEndLabels: (figures) => !isCategory(figures),
    logAxes: () => ({ x: false, y: true }),
    zoom: overRates,
    isByMetric: false,
    hasDirection: false,
    cardRank: (figures) => (hasTradeoff(figures, "p99") ? 3 : null),
    tab: "saturation",
  },
  {
    id: "errors",
    name: () => "Failed attempts",
    title: (figures) => `Failed attempts by class against ${axisName(figures)}`,
    build: errorsChart,
    empty: whyNoErrors,
    legend: errorsLegend,
    summary: errorsSummary,
    stops: errorStops,
    weights: worstShares,
    lines: everySeries,
    hasEndLabels: () => false,
    logAxes: (figures) => ({ x: !isCategory(figures), y: false }),
    zoom: overPlaces,
    isByMetric: false,
    hasDirection: false,
    isFindingOn: (metric) => metric.id.startsWith("error_"),
    cardRank: (figures) => (hasErrorClasses(figures) ? 1 : null),
    tab: "errors",
  },
  {
    id: "ratios",
    name: () => "Ratios",
    title: ({ ratios, ...figures }) =>
      ratios
        ? `${metricOf(figures, figures.metric).label} as a ratio to ${short(ratios.baseline.label)}${sharedPlace({ ratios, ...figures })}`
        : "Ratios",
    build: null,
    empty: whyNoRatios,
    legend: () => "",
    summary: ratiosSummary,
    stops: () => [],
    weights: pointWeights,
    lines: everySeries,
    hasEndLabels: () => true,
    logAxes: () => ({ x: false, y: false }),
    zoom: null,
    isByMetric: false,
    hasDirection: true,
  },
  {
    ...SWEEP,
    id: "trend",
    name: () => "Trend",
    title: (figures, metric) => `${metricTitle(figures, metric)} over ${axisName(figures)}`,
    build: trendChart,
    empty: (figures, metric) => whyNoTrend(figures) ?? whyNoValues(figures, metric),
    legend: (figures, options) => sweepLegend(figures, { ...options, trend: true }),
    summary: trendSummary,
    weights: pointWeights,
    open: openTrend,
    leave: leaveTrend,
  },
];

/** The view that the query asks for; a sweep where it asks for none. */
export function viewOf(query: string): View {
  const id = valueIn(query, "view");
  return VIEWS.find((view) => view.id === id) ?? SWEEP;
}

/** The query with another view; a trend is over versions or dates and holds the ranked load. */
export function withView(
  query: string,
  view: View,
  load: RankedLoad | null = null,
  axis?: TimeAxis,
): string {
  const before = viewOf(query);
  const kept = before.zoom === view.zoom ? query : withValue(query, "zoom", null);
  const left = view.open ? kept : (before.leave?.(kept) ?? kept);
  return withValue(view.open?.(left, load, axis) ?? left, "view", view.id);
}

/** Ticks of times and shares carry their unit. Those of a rate do not: its name has to. */
export function metricName(metric: Metric): string {
  return metric.unit === "req/s" ? `${metric.label} (req/s)` : metric.label;
}

function metricTitle(figures: Figures, metric: MetricId): string {
  return metricName(metricOf(figures, metric));
}

function axisName(figures: Figures): string {
  return figures.x.label.toLowerCase();
}

function everySeries(figures: Figures): readonly string[] {
  return figures.series.map((series) => series.id);
}
