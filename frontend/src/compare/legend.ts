// The legend is HTML: real buttons, reachable by keyboard, with their state announced.
import { changesOf, type Figures, intervalName, type Series } from "../api/figures";
import { isDense } from "../charts/style/line_style";
import { looksIn } from "../charts/style/series_style";
import { hasCutInterval, hasSkips, type SweepOptions, startsAboveZero } from "../charts/sweep";
import type { View } from "../query/query";
import { button } from "../site/dom";
import { name } from "../site/names";
import { swatch } from "./swatch";

export function legend(
  figures: Figures,
  emphasis: ReadonlySet<string>,
  toggle: (series: readonly string[], on: boolean) => void,
): HTMLElement[] {
  return looksIn(figures).map(({ slot, label, ids }) => {
    const item = button(
      {
        class: "legend-item",
        "aria-pressed": String(isLoud(ids, emphasis)),
        "data-series": ids[0] ?? "",
      },
      () => toggle(ids, item.getAttribute("aria-pressed") !== "true"),
      swatch(slot),
      name(label, 48),
    );
    return item;
  });
}

/** The same buttons after other lines became loud: making them anew would lose the focus. */
export function pressLegend(
  place: HTMLElement,
  figures: Figures,
  emphasis: ReadonlySet<string>,
): void {
  const items = new Map(
    [...place.children].map((item) => [(item as HTMLElement).dataset.series, item]),
  );
  for (const { ids } of looksIn(figures)) {
    items.get(ids[0])?.setAttribute("aria-pressed", String(isLoud(ids, emphasis)));
  }
}

function isLoud(ids: readonly string[], emphasis: ReadonlySet<string>): boolean {
  return ids.some((id) => emphasis.has(id));
}

/** What the marks of the drawn view mean, only those that occur. */
export function marksKey(figures: Figures, view: View, options: SweepOptions): string {
  if (view === "nines") {
    return "merged histograms of all trials · a curve ends where fewer than 10 samples remain";
  }
  const points = figures.series.flatMap((series) => series.points);
  const hollow = points.some((point) => point.overload) ? ["hollow = overload"] : [];
  if (view === "tradeoff") return ["arrows go from low load to high", ...hollow].join(" · ");
  const interval = intervalName(figures, options.metric);
  const dots = isDense(figures.series) ? [] : ["faint dot = one trial"];
  const parts = [...(interval ? [`whisker = ${interval}`] : []), ...dots];
  if (hasCutInterval(figures, options)) {
    parts.push("↑ = the interval goes on; the table has its end");
  }
  parts.push(...hollow);
  if (points.some((point) => (point.metrics.error_rate?.value ?? 0) > 0.01)) {
    parts.push("✕ = errors above 1 %");
  }
  if (hasSkips(figures)) parts.push("faint stretch = a load between was not measured");
  if (marked(figures, figures.knees ?? [])) parts.push("ring = knee");
  if (marked(figures, figures.capacity?.rows ?? [])) {
    parts.push("▲ = highest load within the limit");
  }
  if (view === "trend" && changesOf(figures, options.metric).length > 0)
    parts.push("dashed rule = a change");
  if (startsAboveZero(figures, { ...options, trend: view === "trend" })) {
    parts.push("the axis does not start at zero");
  }
  return parts.join(" · ");
}

function marked(figures: Figures, rows: readonly { series: string; x: unknown }[]): boolean {
  const shown = new Set(figures.series.map((series: Series) => series.id));
  return rows.some((row) => row.x !== null && shown.has(row.series));
}
