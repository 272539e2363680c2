// A comparison as the service would answer it, made from a seed: servers that saturate, tails
// that grow, errors beyond the knee. For tests of size and of every view.
import { ERROR_CLASSES } from "../api/constants";
import type { Curve, Figures, Measure, Metric, Point, Ratio, Series } from "../api/figures";

export interface Wanted {
  readonly series?: number;
  readonly loads?: readonly number[];
  readonly trials?: number;
  readonly seed?: number;
  readonly names?: readonly string[];
}

const NAMES = [
  "gunicorn gthread 23.0",
  "gunicorn sync 23.0",
  "uvicorn 0.34",
  "nginx 1.27",
  "granian 1.7",
  "hypercorn 0.17",
  "waitress 3.0",
  "caddy 2.9",
];

export const METRICS: readonly Metric[] = [
  { id: "throughput", label: "Throughput", unit: "req/s", better: "higher", group: "rate" },
  { id: "goodput", label: "Goodput", unit: "req/s", better: "higher", group: "rate" },
  { id: "achieved", label: "Achieved of offered", unit: "ratio", better: "higher", group: "rate" },
  { id: "mean", label: "Latency mean", unit: "us", better: "lower", group: "latency" },
  { id: "p50", label: "Latency p50", unit: "us", better: "lower", group: "latency" },
  { id: "p90", label: "Latency p90", unit: "us", better: "lower", group: "latency" },
  { id: "p99", label: "Latency p99", unit: "us", better: "lower", group: "latency" },
  { id: "p99.9", label: "Latency p99.9", unit: "us", better: "lower", group: "latency" },
  { id: "error_rate", label: "Error rate", unit: "ratio", better: "lower", group: "errors" },
  { id: "error_timeout", label: "Timeouts", unit: "ratio", better: "lower", group: "errors" },
  { id: "cpu", label: "Server CPU", unit: "cores", better: "lower", group: "resources" },
  { id: "memory", label: "Memory", unit: "bytes", better: "lower", group: "resources" },
  { id: "cpu_per_1k", label: "CPU per 1k", unit: "s", better: "lower", group: "resources" },
];

/** Numbers from 0 to 1 that are the same for the same seed (mulberry32). */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function measured(value: number, trials: number, spread: number, next: () => number): Measure {
  const each = Array.from({ length: trials }, () => value * (1 + (next() - 0.5) * 2 * spread));
  const known = trials >= 3;
  return {
    value: Math.exp(each.reduce((sum, item) => sum + Math.log(item), 0) / each.length),
    low: known ? value * (1 - spread * 1.2) : null,
    high: known ? value * (1 + spread * 1.2) : null,
    each,
    origin: "computed",
    interval: "95 % interval within this run",
  };
}

function pointAt(load: number, ceiling: number, trials: number, next: () => number): Point {
  const busy = load / (load + 14);
  const over = Math.max(0, Math.log2(load / 96));
  const throughput = ceiling * busy * (1 - 0.06 * over);
  const mean = (load / throughput) * 1e6;
  const share = over > 0.3 ? 0.012 * over * (0.5 + next()) : 0;
  return {
    x: load,
    cell: `cell-${Math.round(next() * 1e9)}`,
    trials,
    overload: over > 0.9,
    checks: over > 0.9 ? ["same-host", "spread"] : ["same-host"],
    errors: Object.fromEntries(
      ERROR_CLASSES.map((item) => [
        item,
        item === "timeout" ? share * 0.8 : item === "status" ? share * 0.2 : 0,
      ]),
    ),
    metrics: {
      throughput: measured(throughput, trials, 0.02 + 0.03 * next(), next),
      p50: measured(mean * 0.8, trials, 0.04, next),
      p99: measured(mean * (2.2 + over), trials, 0.09, next),
      error_rate: { ...measured(share, trials, 0, next), interval: null },
    },
  };
}

function curve(series: Series, at: number): Curve | null {
  const point = series.points.find((item) => item.x === at);
  const middle = point?.metrics.p50?.value;
  const tail = point?.metrics.p99?.value;
  if (!middle || !tail) return null;
  const grow = Math.log(tail / middle) / 1.7;
  const points = Array.from({ length: 90 }, (_, i) => {
    const nines = 0.02 + (i * 3.9) / 90;
    const percent = 100 * (1 - 10 ** -nines);
    return [percent, middle * Math.exp(grow * (nines - 0.301)) * (nines > 2.4 ? 1.18 : 1)] as const;
  });
  return { series: series.id, count: 90_000, points };
}

function ratio(value: number): Ratio {
  const far = Math.abs(Math.log(value)) > 0.06;
  return {
    value,
    low: value * 0.96,
    high: value * 1.05,
    verdict: far ? (value > 1 ? "improved" : "regressed") : "inconclusive",
    why: far
      ? null
      : "add about 4 trials to each series (enough 2 times in 3, if the difference is as measured)",
  };
}

export function sample(wanted: Wanted = {}): Figures {
  const { series: count = 4, trials = 5, seed = 1, names = NAMES } = wanted;
  const loads = wanted.loads ?? [1, 4, 8, 16, 32, 64, 128, 256];
  const next = random(seed);
  const series: Series[] = Array.from({ length: count }, (_, i) => {
    const label = names[i % names.length] ?? "server";
    const ceiling = 62_000 * 0.84 ** (i % 12) * (0.95 + 0.1 * next());
    return {
      id: (0x1000_0000 + i).toString(16),
      label: i < names.length ? label : `${label} (${i})`,
      server: label,
      server_slug: label.replace(/[ .]/g, "-"),
      version: "1.0",
      runtime: "python 3.11",
      configuration: null,
      workload: "hello",
      workload_slug: "hello",
      tool: "wrk",
      loop: "closed",
      load: null,
      facet: null,
      host: "bench-1",
      slot: i,
      points: loads.map((load) => pointAt(load, ceiling, trials, next)),
    };
  });
  const at = loads[Math.floor(loads.length * 0.7)] ?? 64;
  const value = (item: Series): number =>
    item.points.find((point) => point.x === at)?.metrics.throughput?.value ?? 0;
  const ranked = [...series].sort((a, b) => value(b) - value(a));
  const base = ranked[1] ?? ranked[0];
  const curves = series.slice(0, -1).flatMap((item) => curve(item, at) ?? []);
  return {
    schema: 2,
    query: "",
    links: { json: "/api/v1/compare", csv: "/api/v1/compare.csv" },
    finding: `${ranked[0]?.label} serves 1.21× [1.16, 1.27] the requests of ${base?.label} at ${at} connections`,
    conditions:
      "wrk 4.1 · hello 13 B · keep-alive · closed loop · 5 trials · 1 host: 2-core Xeon, Linux 6.1",
    outcome: {
      status: "caveats",
      differing: [],
      reasons: ["client and server share one host", "1 trial above 5 % spread"],
      overridden: false,
      confounded: [],
      intent: "only the server differs",
    },
    x: { field: "connections", label: "Connections", kind: "number", values: [...loads] },
    metric: "throughput",
    metrics: METRICS,
    series,
    ranking: {
      x: at,
      metric: "throughput",
      baseline: base?.id ?? null,
      rows: ranked.map((item, i) => {
        const measure = item.points.find((point) => point.x === at)?.metrics.throughput;
        return {
          series: item.id,
          label: item.label,
          value: measure?.value ?? null,
          low: measure?.low ?? null,
          high: measure?.high ?? null,
          tier: String(i + 1),
          ratio: item === base || !base ? null : ratio(value(item) / value(base)),
          significant: true,
          relevant: true,
          why: null,
        };
      }),
    },
    panels: null,
    curves: { at, series: curves },
    knees: series.map((item, i) => ({
      series: item.id,
      x: i === 0 ? null : 128,
      throughput: i === 0 ? null : value(item),
      why: i === 0 ? "throughput still grows at the highest load" : null,
    })),
    capacity: null,
    ratios: {
      baseline: { server: base?.server ?? "", label: base?.label ?? "" },
      rows: ranked.map((item) => item.label),
      columns: ["hello 13 B", "json 2 KiB", "static 64 KiB"],
      cells: ranked.map((item) =>
        [1, 0.93, 1.4].map((skew, column) =>
          item === ranked.at(-1) && column === 2
            ? null
            : ratio(item === base ? 1 : (value(item) / Math.max(value(base ?? item), 1)) * skew),
        ),
      ),
    },
    changes: [],
    checks: [
      {
        id: "same-host",
        severity: "warning",
        title: "Client and server share one host",
        explanation: "The load tool takes CPU that the server could have used.",
        count: 160,
        trials: Array.from({ length: 9 }, (_, i) => `0198c5a2-77aa-7000-8000-00000000000${i}`),
        section: "/docs/checks#same-host",
        dismissed: [],
      },
      {
        id: "errors",
        severity: "error",
        title: "More than 1 % of attempts failed",
        explanation: "A server that fails early looks fast; its throughput is not ranked here.",
        count: 6,
        trials: ["0198c5a2-77aa-7000-8000-0000000000aa"],
        section: "/docs/checks#errors",
        dismissed: [],
      },
      {
        id: "no-warm-up",
        severity: "info",
        title: "No warm-up is recorded",
        explanation: "The first seconds of a trial may hold start-up work.",
        count: 0,
        section: "/docs/checks#no-warm-up",
        dismissed: [
          {
            run: "0198c5a2-77aa-7000-8000-000000000001",
            reason: "Warmed up by hand, see the notes",
            by: "mira",
            at: "2026-11-20T10:00:00Z",
          },
        ],
      },
    ],
    runs: [
      {
        id: "0198c5a2-77aa-7000-8000-000000000001",
        started_at: "2026-11-21T05:40:00Z",
        recorded_at: "2026-11-21T05:52:00Z",
        servers: names.slice(0, 4),
        url: "/r/0198c5a2-77aa-7000-8000-000000000001",
        trials: 160,
      },
    ],
    truncated: null,
  };
}

/** The same over versions: a regression in the middle. */
export function trend(): Figures {
  const versions = ["22.0", "23.0", "23.1", "23.2", "24.0", "24.1"];
  const whole = sample({ series: 2 });
  const next = random(7);
  return {
    ...whole,
    finding: "gunicorn gthread serves 0.93× since 23.2",
    x: { field: "version", label: "Version", kind: "category", values: versions },
    series: whole.series.map((item, i) => ({
      ...item,
      label: i === 0 ? "gunicorn gthread" : "gunicorn sync",
      points: versions
        .filter((_, v) => i === 0 || v !== 3)
        .map((version) => {
          const slow = i === 0 && versions.indexOf(version) > 2 ? 0.93 : 1;
          return {
            ...pointAt(64, 52_000 * slow * (1 - 0.25 * i), 5, next),
            x: version,
          };
        }),
    })),
    ranking: null,
    curves: null,
    knees: [],
    ratios: null,
    changes: [
      {
        series: whole.series[0]?.id ?? "",
        x: "23.2",
        before: 42_000,
        after: 39_060,
        ratio: 0.93,
        low: 0.91,
        high: 0.95,
        text: "23.2 serves 0.930× [0.91, 0.95] of what 23.1 did",
      },
    ],
  };
}

/** The same in panels, one per workload. */
export function panelled(): Figures {
  const hello = sample({ series: 3 });
  const large = sample({ series: 3, seed: 9 });
  const values = ["hello 13 B", "static 64 KiB"];
  const series = [hello, large].flatMap((part, i) =>
    part.series.map((line) => ({
      ...line,
      id: `${i + 2}${line.id.slice(1)}`,
      facet: values[i] ?? null,
    })),
  );
  const inside = (i: number): string[] =>
    series.filter((line) => line.facet === values[i]).map((line) => line.id);
  return {
    ...hello,
    series,
    ranking: null,
    curves: null,
    ratios: null,
    knees: [],
    panels: values.map((value, i) => {
      const part = i === 0 ? hello : large;
      return {
        value,
        series: inside(i),
        finding: part.finding,
        outcome: part.outcome,
        ranking: part.ranking && {
          ...part.ranking,
          baseline: `${i + 2}${part.ranking.baseline?.slice(1)}`,
          rows: part.ranking.rows.map((row) => ({
            ...row,
            series: `${i + 2}${row.series.slice(1)}`,
          })),
        },
      };
    }),
  };
}
