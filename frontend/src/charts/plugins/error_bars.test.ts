import type { Chart } from "chart.js";
import { describe, expect, it, vi } from "vitest";
import { options, theme } from "../../testing/chart_options";
import { figures, measure, point, series } from "../../testing/figures";
import { sweepChart } from "../sweep";
import { errorBars } from "./error_bars";

/** How many arcs are filled (dots) and stroked over one point of these trials. */
function marks(each: readonly number[]): readonly [number, number] {
  const metrics = { ...point(8, {}).metrics, throughput: { ...measure(100), each } };
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

/** The whisker of a point at 100, as the y of each move (M) and line (L). */
function whisker(low: number | null, high: number | null, type = "linear"): readonly string[] {
  const throughput = { ...measure(100), low, high, each: [] };
  const metrics = { ...point(8, {}).metrics, throughput };
  const data = figures({ series: [series("a", 0, [point(8, { metrics })])] });
  const drawn: string[] = [];
  const nothing = vi.fn();
  const ctx = {
    save: nothing,
    restore: nothing,
    beginPath: nothing,
    stroke: nothing,
    moveTo: (_: number, y: number) => drawn.push(`M${y}`),
    lineTo: (_: number, y: number) => drawn.push(`L${y}`),
  };
  const chart = {
    ctx,
    chartArea: { top: 0, bottom: 200 },
    data: sweepChart(data, options()).data,
    scales: { y: { type, getPixelForValue: (value: number) => 200 - value } },
    isDatasetVisible: () => true,
    getDatasetMeta: () => ({ data: [{ x: 0, y: 100 }] }),
  } as unknown as Chart;
  errorBars(theme, "small").beforeDatasetsDraw?.(chart, { cancelable: true }, {});
  return drawn;
}

describe("a whisker", () => {
  it("has a cap at each end", () => {
    expect(whisker(90, 110)).toEqual(["M90", "L110", "M90", "L90", "M110", "L110"]);
  });

  it("ends in an arrow where it leaves the chart", () => {
    expect(whisker(90, 900)).toEqual(["M0", "L110", "M6", "L0", "L6", "M110", "L110"]);
    expect(whisker(0, 110, "logarithmic").slice(-3)).toEqual(["M194", "L200", "L194"]);
  });

  it("is drawn up to the figure where one end is unknown", () => {
    expect(whisker(null, 110)).toEqual(["M90", "L100", "M90", "L90"]);
    expect(whisker(null, null)).toEqual([]);
  });
});

describe("errorBars", () => {
  it("draws a dot for each trial, however far it lies from the others", () => {
    expect(marks([99, 100, 40, 101])).toEqual([4, 0]);
  });
});
