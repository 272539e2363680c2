// Mounts Chart.js on the page's canvases and tears it down again; holds no numbers of its own.
import type { Chart as AnyChart } from "chart.js";
import { setHighlight } from "../charts/plugins/hover";
import { Chart } from "../charts/register";
import type { AnyConfig } from "../charts/views";
import { h } from "../site/dom";

const AHEAD = "400px";

interface Mounted {
  readonly chart: AnyChart;
  readonly configure: () => AnyConfig;
}

/** What is done to all charts, one a frame. */
type Act = "restyle" | "highlight";

export class Mounts {
  readonly #charts = new Map<HTMLElement, Mounted>();
  readonly #waiting = new Map<Element, () => void>();
  readonly #frames: Record<Act, number> = { restyle: 0, highlight: 0 };
  readonly #seen = new IntersectionObserver((entries) => this.#enter(entries), {
    rootMargin: AHEAD,
  });

  clear(): void {
    for (const frame of Object.values(this.#frames)) cancelAnimationFrame(frame);
    this.#seen.disconnect();
    this.#waiting.clear();
    for (const { chart } of this.#charts.values()) chart.destroy();
    this.#charts.clear();
  }

  /** The element must be on the page already: Chart.js measures its parent. */
  mount(box: HTMLElement, configure: () => AnyConfig, label: string): AnyChart {
    this.#charts.get(box)?.chart.destroy();
    const canvas = h("canvas", { role: "img", "aria-label": label });
    box.replaceChildren(canvas);
    const chart = new Chart(canvas, configure()) as unknown as AnyChart;
    this.#charts.set(box, { chart, configure });
    return chart;
  }

  /** The same data with other lines loud: a fraction of what mounting anew takes. */
  restyle(main: readonly AnyChart[]): void {
    this.#inTurn("restyle", main, ({ chart, configure }) => {
      const { datasets } = configure().data;
      chart.data.datasets.forEach((dataset, i) => {
        Object.assign(dataset, datasets[i], { data: dataset.data });
      });
      // Not "none": that mode leaves the looks that points share as they were.
      chart.update();
    });
  }

  /** Draws only once the reader comes near: the main chart must not wait for the others. */
  later(box: HTMLElement, draw: () => void): void {
    this.#waiting.set(box, draw);
    this.#seen.observe(box);
  }

  #enter(entries: readonly IntersectionObserverEntry[]): void {
    const near = entries.filter((entry) => entry.isIntersecting).map((entry) => entry.target);
    const next = (): void => {
      const box = near.shift();
      if (!box) return;
      this.#draw(box);
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);
  }

  #draw(box: Element): void {
    const draw = this.#waiting.get(box);
    this.#waiting.delete(box);
    this.#seen.unobserve(box);
    draw?.();
  }

  /** On paper everything is in view. */
  drawAll(): void {
    for (const box of [...this.#waiting.keys()]) this.#draw(box);
  }

  highlight(series: string | null, main: readonly AnyChart[]): void {
    this.#inTurn("highlight", main, ({ chart }) => setHighlight(chart, series));
  }

  /** The main charts at once; the others each in a later frame, unless the act came anew. */
  #inTurn(act: Act, main: readonly AnyChart[], apply: (mounted: Mounted) => void): void {
    cancelAnimationFrame(this.#frames[act]);
    const all = [...this.#charts.values()];
    for (const one of all) if (main.includes(one.chart)) apply(one);
    const rest = all.filter((one) => !main.includes(one.chart));
    const next = (): void => {
      const one = rest.shift();
      if (!one) return;
      apply(one);
      this.#frames[act] = requestAnimationFrame(next);
    };
    this.#frames[act] = requestAnimationFrame(next);
  }
}
