// The small charts in the tabs below the main one: other metrics, and other views with something
// to show.
import { type Figures, knownMetrics, type Metric, type MetricId, metricOf } from "../api/figures";
import { isOnePoint } from "../charts/drawn";
import { hasErrorClasses } from "../charts/errors";
import type { ChartTab, View } from "../charts/view";
import { metricName, VIEWS, viewOf, withView } from "../charts/views";
import { withValue } from "../query/query";
import { button, h } from "../site/dom";

const MOST_CARDS = 6;
/** Shown first, where they are not in the main chart. */
const FIRST_METRICS = ["throughput", "p99"];

export interface Card {
  readonly view: View;
  readonly metric: MetricId;
}

/** The charts worth a look beside the main one, the most telling first. */
export function smallCharts(figures: Figures, query: string, metric: MetricId): readonly Card[] {
  const main = viewOf(query);
  const cards = isOnePoint(figures) ? [] : metricCards(figures, metric);
  const others = VIEWS.filter((view) => rankOf(view, figures) !== null && view !== main)
    .sort((a, b) => (rankOf(a, figures) ?? 0) - (rankOf(b, figures) ?? 0))
    .map((view) => ({ view, metric }));
  const inOrder = [...cards.slice(0, 2), ...others, ...cards.slice(2)];
  return inOrder
    .filter((card) => !(main.isByMetric && card.view.isByMetric && card.metric === metric))
    .slice(0, MOST_CARDS);
}

export function tabOf(figures: Figures, { view, metric }: Card): ChartTab {
  if (view.tab) return view.tab;
  const { id, unit } = metricOf(figures, metric);
  if (unit === "us") return "latency";
  return id.startsWith("error_") ? "errors" : "saturation";
}

function rankOf(view: View, figures: Figures): number | null {
  return view.cardRank?.(figures) ?? null;
}

/** One chart over the axis for each metric with values. */
function metricCards(figures: Figures, metric: MetricId): readonly Card[] {
  const [overAxis] = VIEWS;
  if (!overAxis) return [];
  const ids = new Set(knownMetrics(figures).map(({ id }) => id));
  // With classes of errors, their chart says more than the rate.
  const hasClasses = hasErrorClasses(figures);
  const rates = hasClasses ? [] : ["error_rate"];
  const ordered = new Set([...FIRST_METRICS, ...rates, metric, "p50", ...ids]);
  const hidden = new Set(hasClasses ? ["achieved", "error_rate"] : ["achieved"]);
  return [...ordered]
    .filter((id) => ids.has(id) && !hidden.has(id))
    .map((id) => ({ view: overAxis, metric: id }));
}

/** Which way is better, as an arrow. */
export function direction({ better }: Metric): HTMLElement {
  const text = `${better} is better`;
  const arrow = better === "higher" ? "↑" : "↓";
  return h("span", { class: "aside", role: "img", "aria-label": text, title: text }, arrow);
}

/** The frame of a small chart: its name opens it as the main chart. */
export function cardFrame(
  figures: Figures,
  query: string,
  card: Card,
  box: HTMLElement,
  go: (query: string) => void,
): HTMLElement {
  const metric = metricOf(figures, card.metric);
  const { isByMetric } = card.view;
  const withMetric = isByMetric ? withValue(query, "metric", card.metric) : query;
  const title = button(
    { class: "multiple-title", title: "Show in the main chart" },
    () => go(withView(withMetric, card.view)),
    isByMetric ? metricName(metric) : card.view.title(figures, card.metric),
    isByMetric && direction(metric),
  );
  return h("section", { class: "panel multiple" }, h("h3", {}, title), box);
}
