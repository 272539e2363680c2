// The legend is HTML: real buttons, reachable by keyboard, with their state announced.
import { type Figures, intervalName } from "../api/figures";
import { slotsOf } from "../charts/identity";
import { hasCutInterval, type SweepOptions } from "../charts/sweep";
import { button, h } from "./dom";
import { swatch } from "./swatch";

export function legend(
  figures: Figures,
  emphasis: ReadonlySet<string>,
  toggle: (series: string) => void,
): HTMLElement[] {
  const slots = slotsOf(figures.series);
  return figures.series.map((series) => {
    const loud = emphasis.has(series.id);
    return button(
      {
        class: "legend-item",
        "aria-pressed": String(loud),
        "data-series": series.id,
        title: loud ? "Show as grey context" : "Show in its colour",
      },
      () => toggle(series.id),
      swatch(slots.get(series.id) ?? series.slot),
      h("span", {}, series.label),
    );
  });
}

export function marksKey(figures: Figures, options: SweepOptions): HTMLElement {
  const metric = options.metric;
  const points = figures.series.flatMap((series) => series.points);
  const interval = intervalName(figures, metric);
  const parts = [...(interval ? [`whisker = ${interval}`] : []), "faint dot = one trial"];
  if (hasCutInterval(figures, options)) {
    parts.push("↑ = the interval goes on; the table has its end");
  }
  if (points.some((point) => point.overload)) parts.push("hollow = overload");
  if (points.some((point) => (point.metrics.error_rate?.value ?? 0) > 0.01)) {
    parts.push("✕ = errors above 1 %");
  }
  return h("p", { class: "hint" }, parts.join(" · "));
}
