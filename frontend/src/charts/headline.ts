// The sentences above a view and below its name.
import { type Figures, type MetricId, metricOf } from "../api/figures";
import { short } from "../text/format";
import type { View } from "./view";

/** What a chart shows, in one or two sentences; for readers who do not see it. */
export function summaryText(figures: Figures, view: View, metric: MetricId): string {
  if (figures.series.length === 0) return "There is nothing to draw.";
  const { lead, rest } = view.summary(figures, metric);
  return [lead, rest].filter(Boolean).join(" ");
}

/**
 * The finding, where it is about what is shown; else the lead of the view's own summary, or the
 * name of the metric that is shown.
 */
export function headline(figures: Figures, view: View, metric: MetricId): string {
  const own = ownHeadline(figures, view, metric);
  if (own !== null) return own;
  // Ratios are of the metric that was asked for, whichever is chosen since.
  const isAboutFinding = view.build === null || metric === figures.metric;
  return isAboutFinding ? figures.finding : metricOf(figures, metric).label;
}

/** What stands first: a sentence, by how much, and which series it leaves aside. */
export interface Told {
  readonly sentence: string;
  readonly margin?: string | null;
  readonly aside?: string;
}

/** The answer of the service where it is about what is shown, else the headline of the view. */
export function toldOf(figures: Figures, view: View, metric: MetricId): Told {
  const sentence = headline(figures, view, metric);
  return figures.answer && sentence === figures.finding ? figures.answer : { sentence };
}

/** The headline of a view of which the finding says nothing; null for the others. */
export function ownHeadline(figures: Figures, view: View, metric: MetricId): string | null {
  if (!view.isFindingOn || view.empty(figures, metric) !== null) return null;
  const isHeadedByFinding =
    view.isFindingOn(metricOf(figures, metric)) && metric === figures.metric;
  return isHeadedByFinding ? null : withoutMarks(view.summary(figures, metric).lead);
}

/** The text below the name of the view: it repeats nothing, and is empty where nothing is drawn. */
export function textBelow(figures: Figures, view: View, metric: MetricId): string {
  if (view.empty(figures, metric) !== null) return "";
  const own = ownHeadline(figures, view, metric);
  return own === null ? summaryText(figures, view, metric) : view.summary(figures, metric).rest;
}

/** Why another metric is shown than was asked for; null where it is shown. */
export function missingMetricText(figures: Figures, asked: string, shown: MetricId): string | null {
  if (asked === shown) return null;
  const label = figures.metrics.find((metric) => metric.id === asked)?.label;
  return `These figures hold no ${label ?? `metric “${short(asked)}”`}: ${metricOf(figures, shown).label} is shown.`;
}

/** As findings are: without a full stop, and without the marks that only running text needs. */
function withoutMarks(sentence: string): string {
  return sentence.replace(/[\u2068\u2069]|\.$/g, "");
}

/** Whether the view names its highlighted lines where they end. */
export function hasEndLabels(figures: Figures, view: View): boolean {
  return !figures.panels && view.hasEndLabels(figures);
}

/** Whether every line that is drawn is named at its end: then the view needs no legend. */
export function areAllNamedAtEnds(
  figures: Figures,
  view: View,
  highlighted: ReadonlySet<string>,
): boolean {
  if (view.build === null) return true;
  return (
    hasEndLabels(figures, view) && view.lines(figures).every((series) => highlighted.has(series))
  );
}
