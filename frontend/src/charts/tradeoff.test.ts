import { describe, expect, it } from "vitest";
import { options } from "../testing/chart_options";
import { figures, point, series } from "../testing/figures";
import { latencyOf, tradeoffChart, tradeoffPoints } from "./tradeoff";

describe("tradeoffChart", () => {
  it("keeps the order of load where throughput falls again, and drops what has no place", () => {
    const falling = series("a", 0, [
      point(1, { rate: 100 }),
      point(8, { rate: 900 }),
      point(16, { rate: null }),
      point(64, { rate: 700, overload: true }),
    ]);
    expect(tradeoffPoints(falling, "p99", false).map((one) => [one.at, one.x])).toEqual([
      [1, 100],
      [8, 900],
      [64, 700],
    ]);
    const config = tradeoffChart(figures({ series: [falling] }), {
      ...options({ highlighted: new Set(["a"]) }),
      metric: "p99",
      limit: null,
    });
    expect(config.data.datasets[0]?.pointBackgroundColor).toEqual(["c0", "c0", "surface"]);
    // The library takes points for sorted by x as soon as it need not parse them.
    expect(config.options?.parsing).not.toBe(false);
  });

  it("takes the asked latency, else p99", () => {
    expect(latencyOf(figures(), "p50")).toBe("p50");
    expect(latencyOf(figures(), "throughput")).toBe("p99");
  });
});
