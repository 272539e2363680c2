import type { Chart } from "chart.js";
import { describe, expect, it, vi } from "vitest";
import { options, theme } from "../../testing/chart_options";
import { figures, measure, point, series } from "../../testing/figures";
import { sweepChart } from "../sweep";
import { errorBars } from "./error_bars";

/** How many arcs are filled (dots) and stroked (rings) over one point of these trials. */
function marks(each: readonly number[], set_aside: readonly number[]): readonly [number, number] {
  const metrics = { ...point(8, {}).metrics, throughput: { ...measure(100), each, set_aside } };
  const data = figures({ series: [series("a", 0, [point(8, { metrics })])] });
  const nothing = vi.fn();
  const [arc, fill, stroke] = [vi.fn(), vi.fn(), vi.fn()];
  const ctx = { save: nothing, restore: nothing, beginPath: nothing, arc, fill, stroke };
  const chart = {
    ctx,
    chartArea: { top: 0 },
    data: sweepChart(data, options()).data,
    scales: { y: { getPixelForValue: (value: number) => value } },
    isDatasetVisible: () => true,
    getDatasetMeta: () => ({ data: [{ x: 0, y: 0 }] }),
  } as unknown as Chart;
  const plugin = errorBars(theme, "main");
  plugin.beforeDatasetsDraw?.(chart, { cancelable: true }, {});
  expect(arc).toHaveBeenCalledTimes(each.length);
  return [fill.mock.calls.length, stroke.mock.calls.length];
}

describe("errorBars", () => {
  it("draws a dot for each trial and a ring for each that is set aside", () => {
    expect(marks([99, 100, 101], [])).toEqual([3, 0]);
    expect(marks([99, 100, 40, 101], [2])).toEqual([3, 1]);
  });
});
