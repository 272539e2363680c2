import { describe, expect, it } from "vitest";
import { options } from "../testing/chart_options";
import { figures, measure, point, series } from "../testing/figures";
import { bandsOf, countUnclassified, type ErrorDataset, errorsChart } from "./errors";
import { errorsLegend } from "./legends";

describe("errorsChart", () => {
  const failing = figures({
    series: [
      series("a", 0, [
        point(1, { errors: { timeout: 0.02, status: 0 } }),
        point(8, { errors: null, metrics: { error_rate: measure(0.3) } }),
      ]),
    ],
  });

  it("has a band for each class that occurred, on one scale", () => {
    expect(bandsOf(failing)).toEqual(["total", "timeout"]);
    const scales = errorsChart(failing, options()).options?.scales as Record<
      string,
      { suggestedMax?: number; stack?: string }
    >;
    expect(scales.y_timeout?.suggestedMax).toBe(scales.y?.suggestedMax);
    expect(scales.y_timeout?.stack).toBe(scales.y?.stack);
  });

  it("leaves a gap, not a zero, where classes are unknown, and counts those", () => {
    const drawn = errorsChart(failing, options()).data.datasets as unknown as ErrorDataset[];
    expect(drawn.find((one) => one.band === "timeout")?.data.map((one) => one.y)).toEqual([
      0.02,
      null,
    ]);
    expect(countUnclassified(failing)).toBe(1);
    const classless = point(8, {
      errors: { timeout: null, status: null },
      metrics: { error_rate: measure(0.3) },
    });
    expect(countUnclassified(figures({ series: [series("a", 0, [classless])] }))).toBe(1);
    expect(errorsLegend(failing)).toContain("unknown class");
  });
});

describe("the scale of errors", () => {
  it("is ticked at its end, also where the band is low", () => {
    const low = figures({
      series: [series("a", 0, [point(1, { metrics: { error_rate: measure(0.017) } })])],
    });
    for (const size of ["main", "small"] as const) {
      const y = errorsChart(low, { ...options(), size }).options?.scales?.y as unknown as {
        max: number;
        afterBuildTicks: (axis: { ticks: { value: number }[] }) => void;
        ticks: { autoSkip: boolean; callback: (value: number) => string };
      };
      const axis: { ticks: { value: number }[] } = { ticks: [] };
      y.afterBuildTicks(axis);
      expect(y.max).toBe(0.02);
      expect(y.ticks.autoSkip).toBe(false);
      expect(axis.ticks.map((tick) => y.ticks.callback(tick.value))).toEqual(["0", "", "2 %"]);
    }
  });
});
