// @vitest-environment happy-dom
import type { Chart } from "chart.js";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { bindClicks } from "./chart_clicks";

const canvas = document.createElement("canvas");
const [openPoint, choosePlace] = [vi.fn(), vi.fn()];
let isOnPoint = true;
let isZoomed = false;
const chart = {
  canvas,
  data: { datasets: [{ seriesId: "a", data: [{ at: 8 }, { at: 64 }] }] },
  getElementsAtEventForMode: (_: Event, __: string, { intersect }: { intersect: boolean }) =>
    intersect && !isOnPoint ? [] : [{ datasetIndex: 0, index: 1 }],
} as unknown as Chart;
bindClicks(chart, { openPoint, choosePlace, awaitsDoubleClick: () => isZoomed });

beforeEach(() => {
  vi.useFakeTimers();
  [isOnPoint, isZoomed] = [true, false];
  for (const mock of [openPoint, choosePlace]) mock.mockClear();
});
// The next file of the thread has the same timers.
afterEach(() => vi.useRealTimers());

describe("a click on a chart", () => {
  it("opens the trials of the point under it", () => {
    canvas.click();
    expect(openPoint).toHaveBeenCalledWith("a", 64);
    expect(choosePlace).not.toHaveBeenCalled();
  });

  it("beside the points chooses the place that is ranked", () => {
    isOnPoint = false;
    canvas.click();
    expect(choosePlace).toHaveBeenCalledWith(64);
  });

  it("waits for a second click where a double click resets the zoom", () => {
    isZoomed = true;
    canvas.click();
    canvas.dispatchEvent(new MouseEvent("dblclick"));
    vi.runAllTimers();
    expect(openPoint).not.toHaveBeenCalled();
    canvas.click();
    vi.runAllTimers();
    expect(openPoint).toHaveBeenCalledOnce();
  });
});
