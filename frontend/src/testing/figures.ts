// A small comparison made by hand, with the awkward parts in it: an unknown value, a cell
// without an interval, an overloaded cell and one with too many errors.
import type { Figures, Measure, Point, Series } from "../api/figures";

export function measure(value: number | null, spread: number | null = null): Measure {
  if (value === null) return { value, low: null, high: null, each: [], origin: "reported" };
  return {
    value,
    low: spread === null ? null : value - spread,
    high: spread === null ? null : value + spread,
    each: [value],
    origin: "computed",
    interval: "95 % interval within this run",
  };
}

export function point(
  x: number,
  values: Partial<Point> & { readonly rate?: number | null },
): Point {
  const { rate = 1000 * x, ...rest } = values;
  return {
    x,
    cell: `cell-${x}`,
    trials: 3,
    overload: false,
    checks: [],
    metrics: {
      throughput: measure(rate, rate === null ? null : rate * 0.05),
      p50: measure(800 * x, 10),
      p99: measure(2400 * x),
      error_rate: measure(0),
    },
    ...rest,
  };
}

export function series(id: string, slot: number, points: readonly Point[]): Series {
  return {
    id,
    slot,
    points,
    label: `server ${id}`,
    server: `server ${id}`,
    version: "1",
    workload: "hello",
    tool: "wrk",
    host: "box",
  };
}

export function figures(over: Partial<Figures> = {}): Figures {
  return {
    query: "",
    links: { json: "/api/v1/compare", csv: "/api/v1/compare.csv" },
    finding: "server a serves 2× the requests of server b",
    conditions: "wrk 4.1 · hello",
    outcome: { status: "caveats", differing: [], reasons: ["client and server share one host"] },
    x: { field: "connections", label: "Connections", values: [1, 8, 64] },
    metric: "throughput",
    metrics: [
      { id: "throughput", label: "Throughput", unit: "req/s", better: "higher" },
      { id: "p50", label: "Latency p50", unit: "us", better: "lower" },
      { id: "p99", label: "Latency p99", unit: "us", better: "lower" },
      { id: "error_rate", label: "Error rate", unit: "ratio", better: "lower" },
    ],
    series: [
      series("a", 0, [
        point(1, {}),
        point(8, { rate: null }),
        point(64, { overload: true, checks: ["same-host"] }),
      ]),
      series("b", 1, [
        point(1, { rate: 500 }),
        point(64, {
          rate: 32_000,
          metrics: { throughput: measure(32_000), error_rate: measure(0.2) },
        }),
      ]),
    ],
    ranking: {
      x: 64,
      metric: "throughput",
      baseline: "b",
      rows: [
        {
          series: "a",
          label: "server a",
          value: 64_000,
          low: 60_800,
          high: 67_200,
          tier: "1",
          ratio: { value: 2, low: 1.9, high: 2.1, verdict: "improved", why: null },
        },
        {
          series: "b",
          label: "server b",
          value: 32_000,
          low: null,
          high: null,
          tier: "2",
          ratio: null,
        },
      ],
    },
    checks: [
      {
        id: "same-host",
        severity: "info",
        title: "One host",
        explanation: "Shared CPU.",
        count: 6,
      },
      { id: "errors", severity: "error", title: "Errors", explanation: "Too many.", count: 1 },
    ],
    runs: [{ id: "0198c5a2-77aa", started_at: "2026-11-21T05:40:00Z", url: "/r/1", trials: 15 }],
    truncated: null,
    ...over,
  };
}
