import { describe, expect, it } from "vitest";
import { figures, measure, point, series } from "../testing/figures";
import { whyNotDrawn } from "./drawn";
import { whyNoTrend } from "./trend";

const scene = (over: Parameters<typeof figures>[0], query = "") => ({
  figures: figures(over),
  query,
  metric: "p99",
  highlighted: new Set<string>(),
});

describe("what is not drawn", () => {
  it("is a single figure, and not a line that is left of several", () => {
    const alone = [series("a", 0, [point(64, {})])];
    expect(whyNotDrawn(scene({ series: alone }))).toMatch(/^One series at one load/);
    expect(whyNotDrawn({ ...scene({ series: alone }), whole: figures() })).toBeNull();
    expect(whyNotDrawn(scene({}))).toBeNull();
  });

  it("is a figure that a logarithmic axis has no place for", () => {
    const zero = { throughput: measure(10), p99: measure(0) };
    const lines = [
      series(
        "a",
        0,
        [1, 8].map((x) => point(x, { metrics: zero })),
      ),
    ];
    expect(whyNotDrawn(scene({ series: lines }))).toBeNull();
    expect(whyNotDrawn(scene({ series: lines }, "logy=1"))).toBe(
      "Latency p99 is 0 throughout, which a logarithmic axis cannot show. Turn off Log y.",
    );
  });

  it("is a trend of which each server has one version", () => {
    const x = { field: "version", label: "Version", values: ["1", "2"] };
    const alone = ["1", "2"].map((version, i) =>
      series(version, i, [{ ...point(1, {}), x: version }]),
    );
    const text = "A trend needs two or more versions of a server; here each has one.";
    expect(whyNoTrend(figures({ x, series: alone }))).toBe(text);
    const both = ["1", "2"].map((version) => ({ ...point(1, {}), x: version }));
    expect(whyNoTrend(figures({ x, series: [series("a", 0, both)] }))).toBeNull();
  });
});
