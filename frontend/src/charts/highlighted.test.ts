import { describe, expect, it } from "vitest";
import type { Curve, Ranking } from "../api/figures";
import { figures, measure, point, series } from "../testing/figures";
import { highlightedAtFirst } from "./highlighted";

const rankedRow = { value: 1, low: null, high: null, tier: "1", ratio: null };

function rankingOf(...ids: readonly string[]): Ranking {
  const rows = ids.map((id) => ({ ...rankedRow, series: id, label: id }));
  return { x: 8, metric: "throughput", baseline: null, rows };
}

describe("highlighted series", () => {
  it("are at most six, the leaders first", () => {
    const many = Array.from({ length: 9 }, (_, i) => series(`s${i}`, i, []));
    const chosen = highlightedAtFirst(
      figures({ series: many, ranking: rankingOf("s8", "s7") }),
      "",
    );
    expect([...chosen].slice(0, 2)).toEqual(["s8", "s7"]);
    expect(chosen.size).toBe(6);
    const few = figures({ series: many.slice(0, 4), ranking: null });
    expect(highlightedAtFirst(few, "").size).toBe(4);
  });

  it("are the same servers in all panels, the leaders of each panel among them", () => {
    const servers = Array.from({ length: 9 }, (_, i) => `s${i}`);
    const all = ["json", "hello"].flatMap((facet) =>
      servers.map((server, i) => ({ ...series(`${facet} ${server}`, i, []), server, facet })),
    );
    const panels = ["json", "hello"].map((value) => {
      const own = all.filter(({ facet }) => facet === value).map(({ id }) => id);
      // The leaders of one panel are the last of the other.
      const ranking = rankingOf(...(value === "json" ? own : [...own].reverse()));
      return { value, series: own, finding: "", outcome: figures().outcome, ranking };
    });
    const chosen = [...highlightedAtFirst(figures({ series: all, ranking: null, panels }), "")];
    const inPanel = (facet: string): string[] =>
      chosen.filter((id) => id.startsWith(facet)).map((id) => id.slice(facet.length + 1));
    expect(inPanel("json").sort()).toEqual(["s0", "s1", "s2", "s6", "s7", "s8"]);
    expect(inPanel("hello").sort()).toEqual(inPanel("json").sort());
  });

  it("leave out what does not keep the limit", () => {
    const ranking = rankingOf("a", "b");
    const [a, b] = ranking.rows;
    const over = { ...ranking, rows: [a, { ...b, over_limit: "p99 71 ms > 50 ms" }] };
    const data = figures({ ranking: over as typeof ranking });
    expect([...highlightedAtFirst(data, "")]).toEqual(["a"]);
    expect([...highlightedAtFirst(figures({ ranking }), "")]).toEqual(["a", "b"]);
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
    expect([...highlightedAtFirst(data, "view=sweep")]).toEqual([
      "s0",
      "s1",
      "s2",
      "s3",
      "s4",
      "s5",
    ]);
    expect([...highlightedAtFirst(data, "view=errors")]).toEqual([
      "s8",
      "s0",
      "s1",
      "s2",
      "s3",
      "s4",
    ]);
    // The fastest and the slowest, which are spoken of, then the ranking of those with a curve.
    expect([...highlightedAtFirst(data, "view=nines")]).toEqual([
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
    expect([...highlightedAtFirst(unranked, "view=sweep")]).toEqual([
      "s3",
      "s5",
      "s8",
      "s7",
      "s6",
      "s4",
    ]);
  });

  it("are the best lines of a sweep, however many loads each was measured at", () => {
    const lines = Array.from({ length: 9 }, (_, i) => {
      const loads = i === 8 ? [1] : i === 7 ? [1, 8] : [1, 8, 64];
      const rate = { metrics: { throughput: measure(10 * i) } };
      return series(
        `s${i}`,
        i,
        loads.map((load) => point(load, rate)),
      );
    });
    const unranked = figures({ series: lines, ranking: null });
    // s8 has the best figure, but draws no line.
    expect([...highlightedAtFirst(unranked, "view=sweep")]).toEqual([
      "s7",
      "s6",
      "s5",
      "s4",
      "s3",
      "s2",
    ]);
  });

  it("are those with the most points of a trend where nothing is ranked", () => {
    const many = Array.from({ length: 9 }, (_, i) =>
      series(`s${i}`, i, i > 2 ? [point(1, {}), point(8, {})] : [point(1, {})]),
    );
    const unranked = figures({ series: many, ranking: null });
    expect([...highlightedAtFirst(unranked, "view=trend")]).toEqual([
      "s3",
      "s4",
      "s5",
      "s6",
      "s7",
      "s8",
    ]);
  });
});
