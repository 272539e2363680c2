// Mounts Chart.js on the page's canvases and tears it down again; holds no numbers of its own.
import type { Figures, MetricId } from "../api/figures";
import { metricOf } from "../api/figures";
import { Chart } from "../charts/register";
import { type SweepConfig, type SweepOptions, sweepChart } from "../charts/sweep";
import { h } from "./dom";

export class Mounts {
  #charts: Chart<"line", SweepConfig["data"]["datasets"][number]["data"]>[] = [];

  clear(): void {
    for (const chart of this.#charts) chart.destroy();
    this.#charts = [];
  }

  /** The element must be on the page already: Chart.js measures its parent. */
  mount(box: HTMLElement, figures: Figures, options: SweepOptions): Chart {
    const metric = metricOf(figures, options.metric);
    const canvas = h("canvas", {
      role: "img",
      "aria-label": `${metric.label} against ${figures.x.label.toLowerCase()}, one line per series. ${figures.finding}. The table below holds the same numbers.`,
    });
    box.replaceChildren(canvas);
    const chart = new Chart(canvas, sweepChart(figures, options));
    this.#charts.push(chart);
    return chart as unknown as Chart;
  }

  resize(): void {
    for (const chart of this.#charts) chart.resize();
  }
}

/** Metrics in the order they are offered, without the one in the main chart. */
export function otherMetrics(figures: Figures, main: MetricId): readonly MetricId[] {
  return figures.metrics.map((metric) => metric.id).filter((id) => id !== main);
}
