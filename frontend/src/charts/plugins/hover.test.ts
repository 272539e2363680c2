import type { Chart } from "chart.js";
import { expect, it, vi } from "vitest";
import { seriesOpacity, setHovered } from "./hover";

it("the other lines fade for a line that is drawn, and for no hidden one", () => {
  const chart = {
    data: { datasets: [{ seriesId: "a" }, { seriesId: "b" }] },
    draw: vi.fn(),
  } as unknown as Chart;
  setHovered(chart, "a");
  expect([seriesOpacity(chart, "a"), seriesOpacity(chart, "b")]).toEqual([1, 0.16]);
  setHovered(chart, "hidden");
  expect([seriesOpacity(chart, "a"), seriesOpacity(chart, "b")]).toEqual([1, 1]);
  expect(chart.draw).toHaveBeenCalledTimes(2);
});
