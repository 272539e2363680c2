import { describe, expect, it } from "vitest";
import type { Figures } from "../api/figures";
import { canvasFor } from "../testing/canvas";
import { options, theme, viewNamed } from "../testing/chart_options";
import { figures, measure, point, series } from "../testing/figures";
import { cutAbove, type ValueAt } from "./outliers";
import { cutPoints } from "./plugins/cut_points";
import { hasCutPoints, sweepChart } from "./sweep";

const LOADS = [1, 8, 64];

/** By series, its values at three loads. */
function values(lines: Readonly<Record<string, readonly number[]>>): readonly ValueAt[] {
  return Object.entries(lines).flatMap(([id, ys]) =>
    ys.map((y, i) => ({ series: id, x: LOADS[i] ?? 0, y })),
  );
}

describe("an axis of latency", () => {
  it("leaves out a point that is more than five times all others", () => {
    expect(cutAbove(values({ a: [1, 2, 3], b: [1, 2, 60], c: [2, 3, 4] }))).toBe(4);
    expect(cutAbove(values({ a: [1, 2, 3], b: [1, 2, 19], c: [2, 3, 4] }))).toBeNull();
  });

  it("leaves out a whole series, but not two", () => {
    expect(cutAbove(values({ a: [1, 2, 3], b: [90, 95, 99], c: [2, 3, 4] }))).toBe(4);
    const two = { a: [1, 2, 3], b: [90, 95, 99], c: [2, 3, 4], d: [80, 85, 90] };
    expect(cutAbove(values(two))).toBeNull();
  });

  it("holds latency that grows with the load in every series", () => {
    const grows = { a: [1, 8, 640], b: [1, 8, 600], c: [1, 8, 620] };
    expect(cutAbove(values(grows))).toBeNull();
    // Only one series was measured at the high load: nothing says that it is odd there.
    expect(cutAbove(values({ a: [1, 8, 640], b: [1, 8], c: [1, 8] }))).toBeNull();
  });

  it("holds everything where few points or series say what is usual", () => {
    expect(cutAbove(values({ a: [1, 2, 3], b: [1, 2, 60] }))).toBeNull();
    expect(cutAbove(values({ a: [1], b: [60], c: [2] }))).toBeNull();
    expect(cutAbove(values({ a: [0, 0, 0], b: [0, 0, 9], c: [0, 0, 0] }))).toBeNull();
  });
});

describe("a chart with a point above it", () => {
  const slow = figures({
    series: ["a", "b", "c"].map((id, slot) =>
      series(
        id,
        slot,
        LOADS.map((x) =>
          point(x, {
            metrics: {
              p99: measure(id === "c" && x === 64 ? 1_200_000 : 2_000 * slot + x),
              throughput: measure(id === "c" ? 1e9 : 1_000),
            },
          }),
        ),
      ),
    ),
  });
  const p99 = options({ metric: "p99" });
  const top = (data: Figures, over = {}): number => {
    const scales = sweepChart(data, { ...p99, ...over }).options?.scales;
    // Without a hard end, the library makes room for every point.
    const y = scales?.y as { max?: number } | undefined;
    return y?.max ?? Number.POSITIVE_INFINITY;
  };

  it("fits its axis to the others and says so below", () => {
    expect(top(slow)).toBe(5_000);
    expect(viewNamed("sweep").legend(slow, p99)).toContain("more than 5 times every other value");
    expect(viewNamed("sweep").legend(figures(), p99)).not.toContain("5 times");
    // Its own trial is no trial that is left out.
    expect(viewNamed("sweep").legend(slow, p99)).not.toContain("see the table");
  });

  it("does so for latency over throughput too", () => {
    const view = viewNamed("tradeoff");
    const y = view.build?.(slow, p99).options?.scales?.y as { max?: number };
    expect(y.max).toBe(5_000);
    expect(view.legend(slow, p99)).toContain("more than 5 times every other value");
  });

  it("shows the point on a log axis, and every throughput", () => {
    expect(top(slow, { logY: true })).toBeGreaterThan(1_200_000);
    expect(hasCutPoints(slow, options({ metric: "throughput" }))).toBe(false);
  });

  it("marks each point, with its value where there is room", () => {
    const written: string[] = [];
    // A canvas of the tests has characters of ten pixels.
    const spots = [
      { value: 5, x: 5, y: 100 },
      { value: 1_200_000, x: 60, y: -4_000 },
      { value: 2_300_000, x: 90, y: -5_000 },
      { value: 3_000_000, x: 200, y: -6_000 },
    ];
    const data = spots.map(({ value }) => ({ y: value }));
    const chart = {
      ctx: canvasFor(written),
      chartArea: { top: 10, bottom: 200, left: 0, right: 500 },
      data: { datasets: [{ seriesId: "c", highlighted: true, data }] },
      getDatasetMeta: () => ({ data: spots }),
    };
    const plugin = cutPoints("time", theme, "main");
    (plugin.afterDatasetsDraw as unknown as (chart: object) => void)(chart);
    expect(written).toEqual(["1.20 s", "3.00 s"]);
  });
});
