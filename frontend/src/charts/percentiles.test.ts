import { describe, expect, it } from "vitest";
import type { Figures } from "../api/figures";
import { options } from "../testing/chart_options";
import { sample } from "../testing/sample_figures";
import {
  type PercentileDataset,
  percentilePosition,
  percentilesChart,
  percentilesTitle,
  percentileTable,
  valueAt,
  whyNoCurves,
} from "./percentiles";

describe("the percentile chart", () => {
  const drawn = (data: Figures): PercentileDataset[] =>
    percentilesChart(data, { ...options(), limit: null }).data
      .datasets as unknown as PercentileDataset[];

  it("places a percentile by its nines", () => {
    expect([0, 90, 99, 99.9].map((one) => Math.round(percentilePosition(one) * 1e9) / 1e9)).toEqual(
      [0, 1, 2, 3],
    );
  });

  it("draws only series with a histogram, each to its own end", () => {
    const data = sample({ series: 3 });
    const short = data.curves?.series[0];
    const cut = {
      ...data,
      curves: data.curves && {
        ...data.curves,
        series: [
          {
            series: short?.series ?? "",
            count: 100,
            points: [
              [50, 800],
              [90, 1200],
            ],
          },
        ],
      },
    } as Figures;
    expect(drawn(data).length).toBe(2);
    expect(drawn(cut).length).toBe(1);
    expect(drawn(cut)[0]?.data.map((one) => [one.percent, one.y])).toEqual([
      [50, 800],
      [90, 1200],
    ]);
  });

  it("has no place for 100 %", () => {
    const data = sample({ series: 2 });
    const id = data.series[0]?.id ?? "";
    const all: Figures = {
      ...data,
      curves: {
        at: 64,
        series: [
          {
            series: id,
            count: 20,
            points: [
              [50, 800],
              [100, 9000],
            ],
          },
        ],
      },
    };
    expect(
      drawn(all)[0]
        ?.data.map((one) => one.x)
        .every(Number.isFinite),
    ).toBe(true);
  });

  it("reads a value at the first point at or beyond its percentile", () => {
    const curve = {
      series: "a",
      count: 9,
      points: [
        [50, 1],
        [99.2, 2],
      ],
    } as const;
    expect([50, 90, 99, 99.9].map((one) => valueAt(curve, one))).toEqual([1, 2, 2, null]);
  });

  it("keeps one unit in its table, which a long tail does not choose", () => {
    const data = sample({ series: 1 });
    const series = data.series[0]?.id ?? "";
    const points = [
      [50, 2_000],
      [90, 9_000],
      [99, 3_170_000],
    ] as const;
    const table = percentileTable({
      ...data,
      curves: { at: 64, series: [{ series, count: 900, points }] },
    } as Figures);
    expect(table?.columns.map((one) => one.unit.header)).toEqual(["", "ms", "ms", "ms"]);
  });

  it("names no load where panels are ranked at loads of their own", () => {
    const data = { ...sample(), curves: { at: null, series: sample().curves?.series ?? [] } };
    expect(percentilesTitle(data)).toBe("Latency percentiles");
    expect(percentileTable(data)?.caption).toBe("Latency percentiles, from merged histograms");
    expect(whyNoCurves({ ...data, ranking: null, series: [] })).toMatch(
      /^No series has a histogram:/,
    );
  });
});
