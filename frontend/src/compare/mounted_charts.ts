// Mounts Chart.js on the page's canvases and tears it down again.
import type { Chart as AnyChart } from "chart.js";
import { forgetHovered, setHovered } from "../charts/plugins/hover";
import { Chart } from "../charts/register";
import type { AnyConfig } from "../charts/view";
import { h } from "../site/dom";

const AHEAD = "400px";

interface Mounted {
  readonly chart: AnyChart;
  /** What the chart was made of: the library reads plugins from it at each update. */
  readonly config: AnyConfig;
  readonly configure: () => AnyConfig;
}

/** A change to all charts, applied to one in each frame. */
type Change = "restyle" | "hover";

export class MountedCharts {
  readonly #charts = new Map<HTMLElement, Mounted>();
  readonly #waiting = new Map<Element, () => void>();
  readonly #frames: Record<Change, number> = { restyle: 0, hover: 0 };
  readonly #seen = new IntersectionObserver((entries) => this.#enter(entries), {
    rootMargin: AHEAD,
  });

  /** Takes every chart down, but for one that is refilled. */
  clear(but: AnyChart | null = null): void {
    for (const frame of Object.values(this.#frames)) cancelAnimationFrame(frame);
    this.#seen.disconnect();
    this.#waiting.clear();
    for (const [box, { chart }] of this.#charts) {
      if (chart === but) continue;
      chart.destroy();
      this.#charts.delete(box);
    }
  }

  /** The element must be on the page already: Chart.js measures its parent. */
  mount(box: HTMLElement, configure: () => AnyConfig, label: string): AnyChart {
    this.#charts.get(box)?.chart.destroy();
    const canvas = h("canvas", { role: "img", "aria-label": label });
    box.replaceChildren(canvas);
    const config = configure();
    const chart = new Chart(canvas, config) as unknown as AnyChart;
    this.#charts.set(box, { chart, config, configure });
    return chart;
  }

  /**
   * Other lines in a chart that is there already. It keeps its canvas and its listeners: making
   * these again measures the page, which then is laid out twice.
   */
  refill(box: HTMLElement, configure: () => AnyConfig, label: string): void {
    const mounted = this.#charts.get(box);
    if (!mounted) return;
    const { chart, config } = mounted;
    const { data, options, plugins } = configure();
    forgetHovered(chart);
    chart.setActiveElements([]);
    chart.tooltip?.setActiveElements([], { x: 0, y: 0 });
    chart.canvas.setAttribute("aria-label", label);
    Object.assign(config, { plugins });
    chart.data = data;
    chart.options = options ?? {};
    chart.update();
    this.#charts.set(box, { chart, config, configure });
  }

  /**
   * The same data with other lines highlighted: a fraction of the time that mounting again takes.
   */
  restyle(main: readonly AnyChart[]): void {
    this.#inTurn("restyle", main, ({ chart, configure }) => {
      const { datasets } = configure().data;
      chart.data.datasets.forEach((dataset, i) => {
        Object.assign(dataset, datasets[i], { data: dataset.data });
      });
      // Not "none": that mode does not update options that points share.
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

  hover(series: string | null, main: readonly AnyChart[]): void {
    this.#inTurn("hover", main, ({ chart }) => setHovered(chart, series));
  }

  /** The main charts at once; the others each in a later frame, unless the change comes again. */
  #inTurn(change: Change, main: readonly AnyChart[], apply: (mounted: Mounted) => void): void {
    cancelAnimationFrame(this.#frames[change]);
    const isMain = ({ chart }: Mounted): boolean => main.includes(chart);
    const mounted = [...this.#charts.values()];
    for (const each of mounted.filter(isMain)) apply(each);
    const rest = mounted.filter((each) => !isMain(each));
    const next = (): void => {
      const first = rest.shift();
      if (!first) return;
      apply(first);
      this.#frames[change] = requestAnimationFrame(next);
    };
    this.#frames[change] = requestAnimationFrame(next);
  }
}
