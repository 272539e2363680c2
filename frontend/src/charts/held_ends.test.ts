import { describe, expect, it } from "vitest";
import type { Figures } from "../api/figures";
import { options, viewNamed } from "../testing/chart_options";
import { figures, measure, point, series } from "../testing/figures";
import { heldReach } from "./held_ends";
import { rankingView } from "./ranking";
import { hasCutInterval, sweepChart } from "./sweep";

const CALM = [0.9, 1.05];

describe("the reach of an axis", () => {
  it("does not follow the end of a single noisy series", () => {
    expect(heldReach([CALM, CALM, [0.4, 2.8]])).toBe(1.05);
    expect(heldReach([CALM, CALM, [0.4, 1.4]])).toBe(1.4);
  });

  it("follows the ends that most series have, but none beyond three times the figures", () => {
    expect(heldReach([[2.8], [2.6], [2.7]])).toBe(2.7);
    expect(heldReach([[2.8], [2.6], [40]])).toBe(2.8);
  });

  it("holds the interval of the only series", () => {
    expect(heldReach([[0.2, 2.5]])).toBe(2.5);
    expect(heldReach([[0.2, 100]])).toBe(1);
    expect(heldReach([])).toBe(1);
  });

  it("leaves out one noisy series in ten", () => {
    const many = Array.from({ length: 18 }, () => CALM);
    expect(heldReach([...many, [2.5], [2.9]])).toBe(1.05);
    expect(heldReach([...many, [2.5], [2.9], [2.7]])).toBe(2.5);
    expect(heldReach([...many, ...many, [2.5], [2.9], [3], [2]])).toBe(1.05);
  });
});

describe("a chart with one noisy series", () => {
  const between = (value: number, low: number, high: number) => ({ ...measure(value), low, high });
  const noisy = figures({
    series: [
      series("a", 0, [point(64, { metrics: { throughput: between(1_000, 980, 1_020) } })]),
      series("b", 1, [point(64, { metrics: { throughput: between(900, 880, 920) } })]),
      series("c", 2, [point(64, { metrics: { throughput: between(950, 0, 2_700) } })]),
    ],
  });
  const highlighted = new Set(["a", "b", "c"]);
  const axis = (logY: boolean): { min: number; max: number } =>
    sweepChart(noisy, options({ highlighted, logY })).options?.scales?.y as never;

  it("is scaled to the others on both kinds of axes, and says what the arrow is", () => {
    expect(axis(false).max).toBeLessThan(1_300);
    // A log axis begins and ends at 1, 2 or 5; the whole interval would take it to 5,000.
    expect(axis(true)).toMatchObject({ min: 500, max: 2_000 });
    for (const logY of [false, true]) {
      expect(hasCutInterval(noisy, options({ highlighted, logY }))).toBe(true);
      expect(viewNamed("sweep").legend(noisy, options({ highlighted, logY }))).toContain("arrow");
    }
  });

  it("keeps the whole interval in its texts", () => {
    const config = sweepChart(noisy, options({ highlighted, logY: true }));
    expect(config.data.datasets[2]?.data[0]).toMatchObject({ low: 0, high: 2_700 });
  });

  it("is ranked on the same scale", () => {
    const row = { tier: "1", ratio: null, value: 0, low: null, high: null };
    const rows = ["a", "b", "c"].map((id) => ({ ...row, series: id, label: id }));
    const ranking = { x: 64, metric: "throughput", baseline: null, rows };
    const ranked = rankingView({ ...noisy, ranking } as Figures)?.rows ?? [];
    expect(Math.max(...ranked.map(({ dot }) => dot ?? 0))).toBeGreaterThan(0.8);
    expect(ranked.map(({ isCut }) => isCut)).toEqual([false, false, true]);
  });
});
