// Mounts Chart.js on the page's canvases and tears it down again; holds no numbers of its own.
import type { Chart as AnyChart } from "chart.js";
import { setHighlight } from "../charts/marks/highlight";
import { Chart } from "../charts/register";
import type { AnyConfig } from "../charts/views";
import { h } from "./dom";

const AHEAD = "400px";

export class Mounts {
  readonly #charts = new Map<HTMLElement, AnyChart>();
  readonly #waiting = new Map<Element, () => void>();
  #frame = 0;
  readonly #seen = new IntersectionObserver((entries) => this.#enter(entries), {
    rootMargin: AHEAD,
  });

  clear(): void {
    this.#seen.disconnect();
    this.#waiting.clear();
    for (const chart of this.#charts.values()) chart.destroy();
    this.#charts.clear();
  }

  /** The element must be on the page already: Chart.js measures its parent. */
  mount(box: HTMLElement, config: AnyConfig, label: string): AnyChart {
    this.#charts.get(box)?.destroy();
    const canvas = h("canvas", { role: "img", "aria-label": label });
    box.replaceChildren(canvas);
    const chart = new Chart(canvas, config) as unknown as AnyChart;
    this.#charts.set(box, chart);
    return chart;
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

  /** The main charts at once; the others each in a later frame, unless the pointer has moved on. */
  highlight(series: string | null, main: readonly AnyChart[]): void {
    cancelAnimationFrame(this.#frame);
    for (const chart of main) setHighlight(chart, series);
    const rest = [...this.#charts.values()].filter((chart) => !main.includes(chart));
    const next = (): void => {
      const chart = rest.shift();
      if (!chart) return;
      setHighlight(chart, series);
      this.#frame = requestAnimationFrame(next);
    };
    this.#frame = requestAnimationFrame(next);
  }

  resize(): void {
    for (const chart of this.#charts.values()) chart.resize();
  }
}
