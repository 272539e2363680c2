// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { changesOf } from "../api/figures";
import { viewNamed } from "../testing/chart_options";
import { figures, measure, point, series } from "../testing/figures";
import { sample, trend } from "../testing/sample_figures";
import { summaryText } from "./headline";
import { errorsSummary } from "./summary";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("summary", () => {
  it("names no class of failures where the worst point has none", () => {
    const noClass = { errors: { timeout: null }, metrics: { error_rate: measure(0.3) } };
    const some = figures({
      series: [
        series("a", 0, [point(1, { errors: { timeout: 0.02 } })]),
        series("b", 1, [point(1, noClass)]),
      ],
    });
    expect(errorsSummary(some).lead).toMatch(/: 30\.0 %\.$/);
  });

  it("is one sentence of the drawn numbers", () => {
    expect(summaryText(figures(), viewNamed("sweep"), "throughput")).toMatch(
      /^Throughput lies between 500 req\/s \(.*server b.*, 1 connection\) and 64,000 req\/s/,
    );
    expect(summaryText(sample(), viewNamed("nines"), "throughput")).toMatch(
      /No histogram: .*nginx/,
    );
    expect(summaryText(sample(), viewNamed("tradeoff"), "throughput")).toMatch(
      /^The highest throughput without overload/,
    );
    expect(summaryText(sample(), viewNamed("errors"), "throughput")).toMatch(
      / of 32 load points, most with/,
    );
    expect(summaryText(trend(), viewNamed("trend"), "throughput")).toContain(
      "1 change of throughput",
    );
    const untold = { ...trend(), changes: [] };
    expect(summaryText(untold, viewNamed("trend"), "throughput")).toMatch(
      /^Throughput lies between .* No lasting change of throughput was found/,
    );
    const pair = untold.series.map((line) => ({ ...line, points: line.points.slice(0, 2) }));
    expect(summaryText({ ...untold, series: pair }, viewNamed("trend"), "throughput")).not.toMatch(
      /lasting/,
    );
    const apart = { ...untold.outcome, status: "not_comparable" as const, overridden: false };
    expect(summaryText({ ...untold, outcome: apart }, viewNamed("trend"), "throughput")).toContain(
      "not shown",
    );
    expect(summaryText(trend(), viewNamed("trend"), "p99")).toMatch(/^Latency p99 lies between/);
    expect(changesOf(trend(), "throughput").length).toBe(1);
    expect(changesOf(trend(), "p99")).toEqual([]);
    expect(summaryText(sample(), viewNamed("ratios"), "throughput")).toContain("of 8 ratios");
  });

  it("counts the ratios of uncertain size apart", () => {
    const data = sample();
    const ratio = { value: 1.05, low: 1.01, high: 1.09, verdict: "size_uncertain", why: null };
    if (!data.ratios) throw new Error("ratios");
    const level = { ...ratio, value: 1, low: 1, high: 1, verdict: "unchanged" };
    const ratios = {
      ...data.ratios,
      baseline: { server: "nginx", label: "nginx" },
      rows: ["nginx", "caddy"],
      cells: [
        [level, level],
        [ratio, ratio],
      ],
    } as typeof data.ratios;
    const text = summaryText({ ...data, ratios }, viewNamed("ratios"), "throughput");
    expect(text).toContain("0 of 2 ratios differ");
    expect(text).toContain("2 more differ beyond noise, by an uncertain size.");
  });

  it("says unknown where nothing is known", () => {
    expect(summaryText(figures(), viewNamed("sweep"), "memory")).toContain("is unknown");
    expect(summaryText(figures({ series: [] }), viewNamed("sweep"), "throughput")).toContain(
      "nothing",
    );
  });
});
