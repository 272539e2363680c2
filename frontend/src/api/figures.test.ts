import { describe, expect, it } from "vitest";
import { sample } from "../testing/sample_figures";
import { type Figures, intervalName } from "./figures";

const WITHIN = "95 % interval within this run";

function named(...names: readonly string[]): Figures {
  const figures = sample({ series: 1, loads: names.map((_, at) => at + 1) });
  const series = figures.series.map((each) => ({
    ...each,
    points: each.points.map((point, at) => ({
      ...point,
      metrics: { ...point.metrics, p99: { ...point.metrics.p99, interval: names[at] } },
    })),
  }));
  return { ...figures, series } as Figures;
}

describe("the name of the intervals", () => {
  it("is said once where only some are widened for rounding", () => {
    expect(intervalName(named(WITHIN), "p99")).toBe(WITHIN);
    expect(intervalName(named(`${WITHIN}, widened for rounding`), "p99")).toBe(
      `${WITHIN}, widened for rounding`,
    );
    expect(intervalName(named(WITHIN, `${WITHIN}, widened for rounding`), "p99")).toBe(
      `${WITHIN}, some widened for rounding`,
    );
  });

  it("lists the kinds that differ", () => {
    expect(intervalName(named("95 % interval over 3 runs", WITHIN), "p99")).toBe(
      `95 % interval over 3 runs or ${WITHIN}`,
    );
  });
});
