import { describe, expect, it } from "vitest";
import { type Figures, panelsOrWhole, type RankRow } from "../api/figures";
import { figures, measure, point, series } from "../testing/figures";
import { panelled } from "../testing/sample_figures";
import { niceTop, rankingView } from "./ranking";

describe("rankingView", () => {
  it("puts every dot on one axis from zero", () => {
    const view = rankingView(figures());
    expect(view?.rows.map((row) => row.dot)).toEqual([0.8, 0.4]);
    expect(view?.ticks.map((tick) => tick.text)).toEqual(["0", "40,000", "80,000"]);
    expect(view?.rows[0]).toMatchObject({ ratio: "2.00×", ratioRange: "[1.90, 2.10]", tier: "1" });
    expect(view?.rows[1]).toMatchObject({ baseline: true, ratio: "1×", from: null, to: null });
  });

  it("gives the rankings of all panels one axis", () => {
    const whole = panelled();
    const [first, second] = panelsOrWhole(whole);
    if (!first || !second) throw new Error("two panels");
    const half = (row: RankRow): RankRow => ({ ...row, series: "gone", value: 7, high: null });
    const small = { ...second.ranking, rows: second.ranking?.rows.map(half) };
    const panels = whole.panels?.map((one, i) => (i === 1 ? { ...one, ranking: small } : one));
    const uneven = { ...whole, panels } as Figures;
    const tops = panelsOrWhole(uneven).map((part) => rankingView(part, uneven)?.ticks);
    expect(tops[1]).toEqual(tops[0]);
    expect(rankingView(panelsOrWhole(uneven)[1] ?? uneven)?.ticks).not.toEqual(tops[0]);
  });

  it("prints a rate below one unit of the others in its own unit", () => {
    const rates = { a: 93_500, b: 620 };
    const data = figures({
      series: Object.entries(rates).map(([id, rate], i) =>
        series(id, i, [point(64, { metrics: { throughput: measure(rate) } })]),
      ),
    });
    const rows = rankingView(data)?.rows.map((row) => `${row.value}${row.unit.suffix}`);
    expect(rows).toEqual(["93,500", "620"]);
  });

  it("keeps its values apart where an interval is many times as wide, and says so", () => {
    const wide = (value: number, high: number) => ({ ...measure(value), low: value / 2, high });
    const data = figures({
      series: Object.entries({ a: wide(2_000, 80_000), b: wide(500, 900) }).map(([id, own], i) =>
        series(id, i, [point(64, { metrics: { throughput: own } })]),
      ),
    });
    const rows = rankingView(data)?.rows ?? [];
    expect(rows.map((row) => row.dot)).toEqual([1, 0.25]);
    expect(rows.map((row) => row.isCut)).toEqual([true, false]);
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

  it("never prints a figure below the step of the tool as 0", () => {
    const metrics = { throughput: measure(8000), p50: { ...measure(0), step: 1_000 } };
    const ranking = { ...figures().ranking, metric: "p50", rows: [] as RankRow[] };
    const row = { series: "a", label: "a", value: 0, low: 0, high: 1_000, tier: null, ratio: null };
    const data = figures({
      series: [series("a", 0, [point(64, { metrics })])],
      ranking: { ...ranking, x: 64, baseline: null, rows: [row] },
    });
    expect(rankingView(data)?.rows[0]?.value).toMatch(/^< 1/);
  });

  it("rounds the axis up", () => {
    expect([0.9, 1, 26_300, 67_200].map(niceTop)).toEqual([1, 1, 30_000, 80_000]);
  });
});
