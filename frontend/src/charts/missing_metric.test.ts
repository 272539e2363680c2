import { describe, expect, it } from "vitest";
import type { Figures } from "../api/figures";
import { figures, point, series } from "../testing/figures";
import { missingValuesText, whyNoValues } from "./missing_metric";

const resource = {
  id: "memory",
  label: "Memory",
  unit: "bytes",
  better: "lower",
  group: "resources",
} as const;

function without(): Figures {
  const { metrics } = figures();
  const silent = series("c", 2, [point(1, { metrics: {} })]);
  return figures({
    metrics: [...metrics, resource],
    series: [...figures().series, { ...silent, tool: "ab" }],
  });
}

describe("a metric without values", () => {
  it("says which output does not have it", () => {
    const [, , silent] = without().series;
    const none = { ...without(), series: silent ? [silent] : [] };
    expect(whyNoValues(none, "p99")).toBe(
      "Latency p99 is unknown for all trials: the output of ab does not have it.",
    );
    expect(whyNoValues(without(), "memory")).toBe(
      "Memory is unknown for all series: no agent measured it on the server host.",
    );
    expect(whyNoValues(without(), "p99")).toBeNull();
  });

  it("names the series that lack it beside those that have it", () => {
    expect(missingValuesText(without(), "p99").replace(/[\u2068\u2069]/g, "")).toBe(
      "Latency p99 is unknown for server c: the output of ab does not have it.",
    );
    expect(missingValuesText(figures(), "throughput")).toBe("");
  });

  it("calls figures of a publication a published table", () => {
    const series = without().series.map((line, i) => ({
      ...line,
      points: [point(1, { metrics: {} })],
      tool: i === 0 ? "published" : "wrk",
    }));
    expect(whyNoValues({ ...without(), series }, "p99")).toBe(
      "Latency p99 is unknown for all series: the published table and the output of wrk do not have it.",
    );
  });
});
