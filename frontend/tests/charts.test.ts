import { describe, expect, it } from "vitest";
import type { Figures, Measure } from "../src/api/figures";
import { defaultEmphasis, slotsOf } from "../src/charts/identity";
import { fitted, spread } from "../src/charts/labels";
import { niceTop, rankingView } from "../src/charts/ranking";
import {
  hasCutInterval,
  type SweepDataset,
  type SweepOptions,
  type SweepPoint,
  sweepChart,
} from "../src/charts/sweep";
import type { ChartTheme } from "../src/charts/theme";
import { marksKey } from "../src/ui/legend";
import { figures, measure, point, series } from "./figures";

const theme: ChartTheme = {
  ink: "ink",
  muted: "muted",
  grid: "grid",
  surface: "surface",
  context: "context",
  danger: "danger",
  font: "sans-serif",
  series: ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"],
};

function options(over: Partial<SweepOptions> = {}): SweepOptions {
  return {
    metric: "throughput",
    logX: true,
    logY: false,
    emphasis: new Set(["a", "b"]),
    theme,
    size: "main",
    labelWidth: 0,
    at: 64,
    ...over,
  };
}

function datasets(data: Figures, over: Partial<SweepOptions> = {}): SweepDataset[] {
  return sweepChart(data, options(over)).data.datasets as unknown as SweepDataset[];
}

function points(data: Figures, over: Partial<SweepOptions> = {}): SweepPoint[] {
  return datasets(data, over)[0]?.data ?? [];
}

function onePoint(throughput: Partial<Measure>): Figures {
  const metrics = { ...point(8, {}).metrics, throughput: { ...measure(100), ...throughput } };
  return figures({ series: [series("a", 0, [point(8, { metrics })])] });
}

function axisTop(data: Figures): number {
  const y = sweepChart(data, options()).options?.scales?.y as { suggestedMax?: number };
  return y.suggestedMax ?? 0;
}

describe("sweepChart", () => {
  it("draws the numbers it was given and a gap where nothing is known", () => {
    const [first, gap, last] = points(figures());
    expect(first).toMatchObject({ x: 1, y: 1000, low: 950, high: 1050, each: [1000] });
    expect(gap).toMatchObject({ x: 8, y: null, low: null, high: null });
    expect(last).toMatchObject({ x: 64, y: 64_000, overload: true });
  });

  it("has an axis up to the ends of intervals, however wide beside their values", () => {
    const wide = onePoint({ value: 100, low: 20, high: 250, each: [80, 100, 120] });
    expect(axisTop(wide)).toBeGreaterThanOrEqual(250);
    expect(hasCutInterval(wide, options())).toBe(false);
  });

  it("cuts off an interval that would make the values unreadable, and says so", () => {
    const absurd = onePoint({ value: 100, low: 1, high: 10_000, each: [80, 100, 120] });
    expect(axisTop(absurd)).toBeGreaterThanOrEqual(120);
    expect(axisTop(absurd)).toBeLessThan(150);
    expect(hasCutInterval(absurd, options())).toBe(true);
    expect(marksKey(absurd, options()).textContent).toContain("the table has its end");
    expect(marksKey(figures(), options()).textContent).not.toContain("the table has its end");
  });

  it("says nothing of a cut interval that only a grey line has", () => {
    const absurd = onePoint({ value: 100, low: 1, high: 10_000, each: [100] });
    expect(hasCutInterval(absurd, options({ emphasis: new Set() }))).toBe(false);
  });

  it("marks overload hollow and too many errors as failing", () => {
    const [a, b] = datasets(figures());
    expect(a?.pointBackgroundColor).toEqual(["c0", "c0", "surface"]);
    expect(b?.data.map((one) => one.failing)).toEqual([false, true]);
  });

  it("has no interval where there is none", () => {
    expect(points(figures(), { metric: "p99" })[0]).toMatchObject({
      y: 2400,
      low: null,
      high: null,
    });
  });

  it("leaves zero out of a log axis, but not an error rate", () => {
    const data = figures({ series: [series("a", 0, [point(1, { rate: 0 })])] });
    expect(points(data, { logY: true })[0]?.y).toBeNull();
    expect(points(data, { logY: false })[0]?.y).toBe(0);
    expect(points(data, { logY: true, metric: "error_rate" })[0]?.y).toBe(0);
  });

  it("starts a linear axis at zero and ticks at the load points", () => {
    const scales = sweepChart(figures(), options({ logX: false })).options?.scales;
    expect(scales?.y).toMatchObject({ type: "linear", min: 0 });
    const axis: { ticks: { value: number }[] } = { ticks: [] };
    const build = scales?.x?.afterBuildTicks as unknown as ((axis: unknown) => void) | undefined;
    build?.(axis);
    expect(axis.ticks.map((tick) => tick.value)).toEqual([1, 8, 64]);
  });

  it("greys what is not emphasised and draws it behind", () => {
    const drawn = datasets(figures(), { emphasis: new Set(["b"]) });
    expect(drawn.map((one) => [one.seriesId, one.loud])).toEqual([
      ["b", true],
      ["a", false],
    ]);
    expect(drawn[1]?.borderColor).toBe("context");
  });
});

describe("identity", () => {
  it("keeps a server's slot and gives a second series of it another look", () => {
    const slots = slotsOf([series("a", 3, []), series("b", 3, []), series("c", 0, [])]);
    expect([...slots]).toEqual([
      ["a", 3],
      ["c", 0],
      ["b", 1],
    ]);
  });

  it("emphasises at most six, the leaders first", () => {
    const many = Array.from({ length: 9 }, (_, i) => series(`s${i}`, i, []));
    const chosen = defaultEmphasis(many, ["s8", "s7"]);
    expect(chosen.size).toBe(6);
    expect(chosen.has("s8") && chosen.has("s7")).toBe(true);
    expect(defaultEmphasis(many.slice(0, 4), []).size).toBe(4);
  });
});

describe("labels", () => {
  it("never overlap and stay inside", () => {
    const placed = spread(
      [
        { id: "a", y: 100 },
        { id: "b", y: 99 },
        { id: "c", y: 98 },
      ],
      16,
      0,
      104,
    );
    expect(placed.map((one) => one.id)).toEqual(["c", "b", "a"]);
    expect(placed.map((one) => one.at)).toEqual([72, 88, 104]);
  });

  it("are cut to fit, with an ellipsis", () => {
    const measured = (text: string): number => text.length * 10;
    expect(fitted("short", 50, measured)).toBe("short");
    expect(fitted("far too long", 50, measured)).toBe("far…");
  });
});

describe("rankingView", () => {
  it("puts every dot on one axis from zero", () => {
    const view = rankingView(figures());
    expect(view?.rows.map((row) => row.dot)).toEqual([0.8, 0.4]);
    expect(view?.ticks.map((tick) => tick.text)).toEqual(["0", "40k", "80k"]);
    expect(view?.rows[0]).toMatchObject({ ratio: "×2.00", ratioRange: "[1.90, 2.10]", tier: "1" });
    expect(view?.rows[1]).toMatchObject({ baseline: true, ratio: "×1", from: null, to: null });
  });

  it("is absent when the answer withholds it", () => {
    expect(rankingView(figures({ ranking: null }))).toBeNull();
  });

  it("keeps an unknown value unknown", () => {
    const data = figures({
      series: [series("a", 0, [point(64, { metrics: { throughput: measure(null) } })])],
    });
    expect(rankingView(data)?.rows[0]).toMatchObject({ value: "unknown", dot: null });
  });

  it("rounds the axis up", () => {
    expect([0.9, 1, 26_300, 67_200].map(niceTop)).toEqual([1, 1, 30_000, 80_000]);
  });
});
