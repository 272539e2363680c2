import { describe, expect, it } from "vitest";
import { type Figures, type Measure, panelsOrWhole } from "../api/figures";
import { options, theme, viewNamed } from "../testing/chart_options";
import { figures, measure, point, series } from "../testing/figures";
import { panelled, trend } from "../testing/sample_figures";
import { sweepStops } from "./stops";
import type { SweepDataset, SweepPoint } from "./style/measured_points";
import { dashOf } from "./style/series_style";
import { hasCutInterval, type SweepOptions, startsAboveZero, sweepChart } from "./sweep";

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

  it("places series at one load side by side as they are ranked, within the axis", () => {
    const whole = figures();
    const rows = [...(whole.ranking?.rows ?? [])];
    const single = figures({
      x: { ...whole.x, values: [64] },
      series: ["a", "b", "c"].map((id, slot) => series(id, slot, [point(64, {})])),
      ranking: whole.ranking && { ...whole.ranking, rows: rows.reverse() },
    });
    const places = (over = {}) =>
      datasets(single, { logX: false, ...over }).map(({ data }) => data[0]?.x ?? 0);
    const ranked = rows.map(({ series: id }) => places()[["a", "b", "c"].indexOf(id)] ?? 0);
    expect(ranked).toEqual([...ranked].sort((a, b) => a - b));
    expect(new Set(places()).size).toBe(3);
    expect(Math.min(...places())).toBeGreaterThan(0);
    expect(Math.max(...places())).toBeLessThan(128);
    expect(places({ logX: true })).toEqual([64, 64, 64]);
    expect(places({ zoomed: true })).toEqual([64, 64, 64]);
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
    expect(viewNamed("sweep").legend(absurd, options())).toContain("see the table");
    expect(viewNamed("sweep").legend(figures(), options())).not.toContain("see the table");
  });

  it("has room for an interval where every figure is below the step of the tool", () => {
    const zero = onePoint({ value: 0, low: 0, high: 1000, each: [0, 0, 1000] });
    expect(axisTop(zero)).toBeGreaterThanOrEqual(1000);
    expect(hasCutInterval(zero, options())).toBe(false);
  });

  it("says nothing of a cut interval that only a grey line has", () => {
    const absurd = onePoint({ value: 100, low: 1, high: 10_000, each: [100] });
    expect(hasCutInterval(absurd, options({ highlighted: new Set() }))).toBe(false);
  });

  it("marks overload hollow and too many errors as failing", () => {
    const [a, b] = datasets(figures());
    expect(a?.pointBackgroundColor).toEqual(["c0", "c0", "surface"]);
    expect(b?.data.map((one) => one.failing)).toEqual([false, true]);
  });

  it("shows every trial, also of a result set whose version set some aside", () => {
    const older = { each: [100, null, 40, 101], set_aside: [2] };
    expect(points(onePoint(older))[0]?.each).toEqual([100, 40, 101]);
    expect(viewNamed("sweep").legend(onePoint(older), options())).not.toContain("ring");
  });

  it("says of a figure below the step of the tool that it is below", () => {
    const metrics = { ...point(8, {}).metrics, p50: { ...measure(0), step: 1_000 } };
    const rounded = figures({ series: [series("a", 0, [point(8, { metrics })])] });
    expect(sweepStops(rounded, 0, "p50")[0]?.text).toContain("Latency p50 < 1 ms");
    expect(viewNamed("sweep").summary(rounded, "p50").lead).toContain("Latency p50 is < 1 ms");
    expect(viewNamed("tradeoff").stops(rounded, 0, "p50")[0]?.text).toContain("p50 < 1 ms");
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
    const drawn = datasets(figures(), { highlighted: new Set(["b"]) });
    expect(drawn.map((one) => [one.seriesId, one.highlighted, one.order])).toEqual([
      ["a", false, 1],
      ["b", true, 0],
    ]);
    expect(drawn[0]?.borderColor).toBe("context");
  });

  it("fades a line over a load that was not measured, and breaks it over a name", () => {
    const gap = series("a", 4, [point(1, {}), point(64, {})]);
    const joined = figures({ series: [gap, series("b", 1, [point(8, {})])] });
    const coloured = { ...theme, series: theme.series.map(() => "#0072b2") };
    const stretch = (data: Figures): Record<string, unknown> =>
      Object.fromEntries(
        Object.entries(datasets(data, { theme: coloured })[0]?.segment ?? {}).map(
          ([key, asked]) => [key, (asked as (context: object) => unknown)({ p1DataIndex: 1 })],
        ),
      );
    // Its dash stays: it is what tells the series from another of its colour.
    expect(stretch(joined)).toEqual({ borderColor: "#0072b280" });
    expect(datasets(joined)[0]?.borderDash).toEqual(dashOf(4));
    expect(viewNamed("sweep").legend(joined, options())).toContain("faint line");
    expect(stretch(trend())).toEqual({});
    expect(datasets(trend(), { highlighted: new Set() })[1]?.segment).toBeDefined();
  });

  it("puts names one step apart, side by side and unjoined where they have no order", () => {
    const hosts = figures({
      x: { field: "host", label: "Host", kind: "category", values: ["one", "two"] },
      series: ["a", "b"].map((id, slot) =>
        series(id, slot, [
          { ...point(1, {}), x: "two" },
          { ...point(1, {}), x: "one" },
        ]),
      ),
    });
    const [a, b] = datasets(hosts);
    expect(a?.showLine).toBe(false);
    expect(a?.data.map((one) => one.at)).toEqual(["one", "two"]);
    expect(a?.data[0]?.x).toBeLessThan(b?.data[0]?.x ?? 0);
    expect(b?.data[0]?.x).toBeLessThan(a?.data[1]?.x ?? 0);
    const axis: { ticks: { value: number }[] } = { ticks: [] };
    const x = sweepChart(hosts, options()).options?.scales?.x as unknown as {
      afterBuildTicks: (axis: unknown) => void;
      ticks: { callback: (value: number) => string };
    };
    x.afterBuildTicks(axis);
    expect(axis.ticks.map((tick) => x.ticks.callback(tick.value))).toEqual(["one", "two"]);
  });

  it("gives all panels one axis", () => {
    const whole = panelled();
    const first = panelsOrWhole(whole)[0] ?? whole;
    const scale = (scope: Figures): number => {
      const y = sweepChart(first, options({ scope })).options?.scales?.y;
      return (y as { suggestedMax?: number } | undefined)?.suggestedMax ?? 0;
    };
    const tops = panelsOrWhole(whole).map((part) => axisTop(part));
    expect(scale(whole)).toBeCloseTo(Math.max(...tops), 6);
  });

  it("lifts a trend off zero only where that shows more, and never on its own", () => {
    const data = trend();
    expect(startsAboveZero(data, options({ trend: true }))).toBe(true);
    expect(startsAboveZero(data, options())).toBe(false);
    expect(viewNamed("trend").legend(data, options())).toContain("does not start at zero");
  });
});
