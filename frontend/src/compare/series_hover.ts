// Whatever stands for a series brings its line forward: legend, ranking, table, or the line itself.
import type { Chart as AnyChart } from "chart.js";

/** Calls `hover` with the series under the pointer or the focus; null if there is none. */
export function bindSeriesHover(
  root: HTMLElement,
  mainCharts: () => readonly AnyChart[],
  hover: (series: string | null) => void,
): void {
  const hoverTarget = (event: Event): void => {
    const target = event.target as Element | null;
    if (target instanceof HTMLCanvasElement) return;
    hover(target?.closest<HTMLElement>("[data-series]")?.dataset.series ?? null);
  };
  root.addEventListener("pointerover", hoverTarget);
  root.addEventListener("focusin", hoverTarget);
  root.addEventListener("pointerleave", () => hover(null));
  root.addEventListener("pointermove", (event) => {
    const chart = mainCharts().find(({ canvas }) => canvas === event.target);
    if (chart) hover(seriesUnder(chart, event));
  });
}

function seriesUnder(chart: AnyChart, event: Event): string | null {
  const [nearest] = chart.getElementsAtEventForMode(event, "nearest", { intersect: true }, false);
  if (!nearest) return null;
  return (chart.data.datasets[nearest.datasetIndex] as { seriesId?: string }).seriesId ?? null;
}

/** Legend entries and ranks of the hovered series. */
export function markHovered(root: HTMLElement, series: string | null): void {
  for (const item of root.querySelectorAll<HTMLElement>(".legend-item, .rank")) {
    item.classList.toggle("is-lit", series !== null && item.dataset.series === series);
  }
}
