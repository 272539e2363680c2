import { describe, expect, it } from "vitest";
import type { Curve } from "../api/figures";
import { viewNamed } from "../testing/chart_options";
import { figures, measure, point, series } from "../testing/figures";
import { defaultHighlights, highlightedIn } from "./highlighted";

const rankedRow = { value: 1, low: null, high: null, tier: "1", ratio: null };

describe("highlighted series", () => {
  it("are at most six, the leaders first", () => {
    const many = Array.from({ length: 9 }, (_, i) => series(`s${i}`, i, []));
    const chosen = defaultHighlights(many, ["s8", "s7"]);
    expect(chosen.size).toBe(6);
    expect(chosen.has("s8") && chosen.has("s7")).toBe(true);
    expect(defaultHighlights(many.slice(0, 4), []).size).toBe(4);
  });

  it("are in each view those that it is about", () => {
    const fails = { metrics: { error_rate: measure(0.3) } };
    const many = Array.from({ length: 9 }, (_, i) =>
      series(`s${i}`, i, i === 8 ? [point(8, fails)] : [point(8, {})]),
    );
    const ranked = many.map((one) => ({ ...rankedRow, series: one.id, label: one.label }));
    const ranking = { x: 8, metric: "throughput", baseline: null, rows: ranked };
    const tail = (us: number): Curve["points"] => [[99, us]];
    const curves = {
      at: 8,
      series: many
        .filter(({ id }) => id !== "s0")
        .map(({ id }, i) => ({ series: id, count: 100, points: tail(i === 7 ? 9000 : 500 - i) })),
    };
    const data = figures({ series: many, ranking, curves });
    expect([...highlightedIn(data, viewNamed("sweep"))]).toEqual([
      "s0",
      "s1",
      "s2",
      "s3",
      "s4",
      "s5",
    ]);
    expect([...highlightedIn(data, viewNamed("errors"))]).toEqual([
      "s8",
      "s0",
      "s1",
      "s2",
      "s3",
      "s4",
    ]);
    // The fastest and the slowest, which are spoken of, then the ranking of those with a curve.
    expect([...highlightedIn(data, viewNamed("nines"))]).toEqual([
      "s7",
      "s8",
      "s1",
      "s2",
      "s3",
      "s4",
    ]);
  });

  it("are those with the best figures where nothing is ranked, whatever their names", () => {
    const values = [10, 20, 30, 90, 40, 80, 50, 60, 70];
    const many = values.map((value, i) =>
      series(`s${i}`, i, [point(1, { metrics: { throughput: measure(value) } })]),
    );
    const unranked = figures({ series: many, ranking: null });
    expect([...highlightedIn(unranked, viewNamed("sweep"))]).toEqual([
      "s3",
      "s5",
      "s8",
      "s7",
      "s6",
      "s4",
    ]);
  });

  it("are those with the most points where nothing is ranked", () => {
    const many = Array.from({ length: 9 }, (_, i) =>
      series(`s${i}`, i, i > 2 ? [point(1, {}), point(8, {})] : [point(1, {})]),
    );
    const unranked = figures({ series: many, ranking: null });
    expect([...highlightedIn(unranked, viewNamed("trend"))]).toEqual([
      "s3",
      "s4",
      "s5",
      "s6",
      "s7",
      "s8",
    ]);
  });
});
