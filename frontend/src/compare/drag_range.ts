// Dragging over a chart chooses a range of its x axis; a second press at once takes it back. A
// vertical drag on a touch screen scrolls the page: the style sheet leaves that to the browser.
import type { Chart as AnyChart } from "chart.js";
import { h } from "../site/dom";

/** A shorter way is a click that trembled. In pixels. */
const LEAST = 8;

export interface RangeActions {
  /** The values of the axis at both ends, the lower one first. */
  readonly choose: (range: readonly [number, number]) => void;
  readonly reset: () => void;
}

export function bindDragRange(chart: AnyChart, actions: RangeActions): void {
  const { canvas } = chart;
  let start: number | null = null;
  let band: HTMLElement | null = null;
  let hasDragged = false;

  const end = (): void => {
    band?.remove();
    [start, band] = [null, null];
    document.removeEventListener("keydown", cancel);
  };
  const cancel = (event: KeyboardEvent): void => {
    if (event.key === "Escape") end();
  };
  canvas.addEventListener("pointerdown", (event) => {
    hasDragged = false;
    if (event.isPrimary && event.button === 0) start = inPlot(chart, event.offsetX);
  });
  canvas.addEventListener("pointermove", (event) => {
    const x = inPlot(chart, event.offsetX);
    if (start === null || (!band && Math.abs(x - start) < LEAST)) return;
    if (!band) {
      band = h("div", { class: "range-band" });
      canvas.after(band);
      canvas.setPointerCapture(event.pointerId);
      document.addEventListener("keydown", cancel);
    }
    cover(band, chart, Math.min(start, x), Math.max(start, x));
  });
  canvas.addEventListener("pointerup", (event) => {
    const ends = band && start !== null ? [start, inPlot(chart, event.offsetX)] : null;
    end();
    if (!ends) return;
    hasDragged = true;
    const [low = 0, high = 0] = ends.map((x) => valueAt(chart, x)).sort((a, b) => a - b);
    actions.choose([low, high]);
  });
  canvas.addEventListener("pointercancel", end);
  canvas.addEventListener("dblclick", actions.reset);
  // The click that ends a drag chooses nothing.
  const swallow = (event: Event): void => {
    if (hasDragged) event.stopImmediatePropagation();
  };
  canvas.addEventListener("click", swallow, { capture: true });
}

function inPlot({ chartArea }: AnyChart, x: number): number {
  return Math.min(Math.max(x, chartArea.left), chartArea.right);
}

function valueAt(chart: AnyChart, x: number): number {
  return Number(chart.scales.x?.getValueForPixel(x));
}

function cover(band: HTMLElement, { chartArea }: AnyChart, left: number, right: number): void {
  const { top, bottom } = chartArea;
  Object.assign(band.style, {
    left: `${left}px`,
    width: `${right - left}px`,
    top: `${top}px`,
    height: `${bottom - top}px`,
  });
}
