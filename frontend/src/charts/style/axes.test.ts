import { describe, expect, it } from "vitest";
import type { Figures } from "../../api/figures";
import { options } from "../../testing/chart_options";
import { figures, point, series } from "../../testing/figures";
import { type SweepOptions, sweepChart } from "../sweep";
import { logLabels, spacedLoads, type TickScale, tick, yScale } from "./axes";
import type { SweepDataset } from "./measured_points";

function datasets(data: Figures, over: Partial<SweepOptions> = {}): SweepDataset[] {
  return sweepChart(data, options(over)).data.datasets as unknown as SweepDataset[];
}

describe("an axis of names", () => {
  const named = (places: readonly string[]): Figures =>
    figures({
      x: { field: "server", label: "Server", kind: "category", values: [...new Set(places)] },
      series: places.map((place, i) => series(`s${i}`, i, [{ ...point(0, {}), x: place }])),
    });
  const xs = (data: Figures): readonly number[] =>
    datasets(data).flatMap((one) => one.data.map((at) => at.x));

  it("has its marks on their ticks where each place is of one series, else side by side", () => {
    expect(xs(named(["a", "b", "c"]))).toEqual([0, 1, 2]);
    expect(new Set(xs(named(["a", "a", "b"]))).size).toBe(3);
  });

  it("leaves no name out while they have room, and turns many upright", () => {
    const ticks = (count: number): unknown => {
      const data = named(Array.from({ length: count }, (_, i) => `server ${i}`));
      const x = sweepChart(data, options()).options?.scales?.x as {
        ticks?: { autoSkip?: boolean; maxRotation?: number };
      };
      return [x.ticks?.autoSkip, x.ticks?.maxRotation];
    };
    expect([ticks(9), ticks(40)]).toEqual([
      [false, 35],
      [true, 90],
    ]);
  });
});

describe("an axis of loads", () => {
  const bounds = (loads: readonly number[]): readonly unknown[] => {
    const data = figures({
      x: { field: "connections", label: "Connections", kind: "number", values: [...loads] },
    });
    const x = sweepChart(data, options({ logX: false })).options?.scales?.x;
    return [x?.min, x?.max];
  };

  it("has a single load in the middle", () => {
    expect(bounds([64])).toEqual([0, 128]);
    expect(bounds([0])).toEqual([0, 1]);
    expect(bounds([1, 100])).toEqual([0, 103]);
  });
});

describe("a logarithmic axis", () => {
  it("has three labels or more, however narrow the values lie", () => {
    expect(logLabels(1_100, 1_150)).toEqual([1_100, 1_120, 1_140, 1_160]);
    expect(logLabels(20, 20)).toEqual([18, 19, 20, 21, 22]);
    expect(logLabels(0.3, 0.9)).toEqual([0.2, 0.5, 1]);
    for (const most of [1.0005, 1.01, 1.3, 1.9, 2.4, 4.9, 11]) {
      for (const least of [0.001, 0.73, 1, 4.9, 6_100])
        expect(logLabels(least, least * most).length, `${least} × ${most}`).toBeGreaterThan(2);
    }
    expect(logLabels(0.0003, 0.7)).toEqual([
      0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1,
    ]);
  });

  it("thins its labels to what has room", () => {
    const shown = (least: number, most: number): readonly number[] => {
      const scale = yScale({ ...options(), size: "small", kind: "time", log: true, least, most });
      const axis: TickScale = { ticks: [] };
      scale.afterBuildTicks(axis);
      return axis.ticks.map(({ value }) => value);
    };
    expect(shown(100, 900)).toEqual([100, 200, 500, 1_000]);
    expect(shown(1, 40)).toEqual([1, 5, 20]);
    expect(shown(100, 90_000)).toEqual([100, 1_000, 10_000, 100_000]);
    expect(shown(1, 1e9).length).toBeLessThanOrEqual(5);
  });
});

describe("a tick", () => {
  it("has the unit that people say, whatever its neighbours have", () => {
    expect([0, 200_000, 1_000_000, 1_200_000].map((us) => tick(us, "time"))).toEqual([
      "0",
      "200 ms",
      "1 s",
      "1.2 s",
    ]);
    expect([620, 1_150, 52_000].map((rate) => tick(rate, "rate"))).toEqual([
      "620",
      "1,150",
      "52,000",
    ]);
  });
});

describe("labels of loads", () => {
  it("have room on a log axis, the largest load first", () => {
    const loads = Array.from({ length: 50 }, (_, i) => 4 * (i + 1));
    const kept = spacedLoads(loads, { logX: true, size: "main" });
    expect(kept.at(-1)).toBe(200);
    expect(kept.length).toBeLessThanOrEqual(15);
    for (const [i, load] of kept.slice(1).entries())
      expect(Math.log(load / (kept[i] ?? 1))).toBeGreaterThan(Math.log(50) / 15);
    expect(spacedLoads(loads, { logX: false, size: "main" })).toEqual(loads);
  });

  it("do not touch on a phone", () => {
    const axis = { logX: true, size: "main" } as const;
    expect(spacedLoads([100, 1000, 10_000, 20_000], axis, 240)).toEqual([100, 1000, 20_000]);
    expect(spacedLoads([1, 8, 64], axis, 240)).toEqual([1, 8, 64]);
  });

  it("are all there where they double", () => {
    const loads = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
    expect(spacedLoads(loads, { logX: true, size: "main" })).toEqual(loads);
    expect(spacedLoads([64], { logX: true, size: "small" })).toEqual([64]);
  });
});
