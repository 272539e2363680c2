// @vitest-environment happy-dom
import type { Chart } from "chart.js";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { bindDragRange } from "./drag_range";

const canvas = document.createElement("canvas");
canvas.setPointerCapture = vi.fn();
const choose = vi.fn();
const reset = vi.fn();
const click = vi.fn();
const chart = {
  canvas,
  chartArea: { left: 50, right: 450, top: 10, bottom: 210 },
  scales: { x: { getValueForPixel: (x: number) => x / 10 } },
} as unknown as Chart;
bindDragRange(chart, { choose, reset });
canvas.addEventListener("click", click);

function point(type: string, x: number, isPrimary = true): void {
  const event = new PointerEvent(type, { pointerId: 1, isPrimary, button: 0 });
  Object.defineProperty(event, "offsetX", { value: x });
  canvas.dispatchEvent(event);
}

function band(): HTMLElement | null {
  return document.querySelector<HTMLElement>(".range-band");
}

beforeEach(() => {
  document.body.replaceChildren(canvas);
  for (const mock of [choose, reset, click]) mock.mockClear();
});

describe("a drag over a chart", () => {
  it("chooses the range between its ends, in either direction, and is no click", () => {
    point("pointerdown", 300);
    point("pointermove", 100);
    expect(band()?.style.left).toBe("100px");
    expect(band()?.style.width).toBe("200px");
    point("pointerup", 100);
    expect(choose).toHaveBeenCalledWith([10, 30]);
    expect(band()).toBeNull();
    canvas.click();
    expect(click).not.toHaveBeenCalled();
  });

  it("ends at the edge of the plot", () => {
    point("pointerdown", 10);
    point("pointermove", 900);
    point("pointerup", 900);
    expect(choose).toHaveBeenCalledWith([5, 45]);
  });

  it("of a few pixels is a click", () => {
    point("pointerdown", 100);
    point("pointermove", 105);
    point("pointerup", 105);
    canvas.click();
    expect(choose).not.toHaveBeenCalled();
    expect(click).toHaveBeenCalledOnce();
  });

  it("is given up by Escape, by a scroll of the page, and by a second finger", () => {
    point("pointerdown", 100);
    point("pointermove", 200);
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    point("pointerup", 200);
    point("pointerdown", 100);
    point("pointermove", 200);
    point("pointercancel", 200);
    point("pointerup", 200);
    point("pointerdown", 100, false);
    point("pointermove", 200, false);
    expect(band()).toBeNull();
    expect(choose).not.toHaveBeenCalled();
  });

  it("is taken back by a double click", () => {
    canvas.dispatchEvent(new MouseEvent("dblclick"));
    expect(reset).toHaveBeenCalledOnce();
  });
});
