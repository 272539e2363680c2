import { describe, expect, it } from "vitest";
import type { Figures } from "../../api/figures";
import { options } from "../../testing/chart_options";
import { figures, point, series } from "../../testing/figures";
import { type SweepOptions, sweepChart } from "../sweep";
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

  it("leaves no name out while they have room", () => {
    const scale = (count: number): unknown => {
      const data = named(Array.from({ length: count }, (_, i) => `server ${i}`));
      const x = sweepChart(data, options()).options?.scales?.x as {
        ticks?: { autoSkip?: boolean };
      };
      return x.ticks?.autoSkip;
    };
    expect([scale(9), scale(40)]).toEqual([false, true]);
  });
});
