import { describe, expect, it } from "vitest";
import { type Figures, type Measure, parts, type Ratio } from "../src/api/figures";
import { bandsOf, type ErrorDataset, errorsChart, unclassified } from "../src/charts/errors";
import { defaultEmphasis, slotsOf } from "../src/charts/identity";
import { fitted, spread } from "../src/charts/labels";
import { type NinesDataset, nines, ninesChart, valueAt } from "../src/charts/nines";
import { niceTop, rankingView } from "../src/charts/ranking";
import { ratioView, tintOf } from "../src/charts/ratios";
import { paintSheet, wrapped } from "../src/charts/sheet";
import {
  hasCutInterval,
  type SweepDataset,
  type SweepOptions,
  type SweepPoint,
  startsAboveZero,
  sweepChart,
} from "../src/charts/sweep";
import type { ChartTheme } from "../src/charts/theme";
import { latencyOf, tradeoffChart, tradeoffPoints } from "../src/charts/tradeoff";
import { type ChartView, errorsNote, viewChart, whyEmpty } from "../src/charts/views";
import { marksKey } from "../src/ui/legend";
import { figures, measure, point, series } from "./figures";
import { panelled, sample, trend } from "./generate";

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
    expect(marksKey(absurd, "sweep", options())).toContain("the table has its end");
    expect(marksKey(figures(), "sweep", options())).not.toContain("the table has its end");
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

  it("dots a line over a load that was not measured, and breaks it over a name", () => {
    const gap = series("a", 0, [point(1, {}), point(64, {})]);
    const joined = figures({ series: [gap, series("b", 1, [point(8, {})])] });
    const dash = (data: Figures): unknown => {
      const segment = datasets(data)[0]?.segment as unknown as Record<string, unknown> | undefined;
      const asked = segment?.borderDash ?? segment?.borderColor;
      return (asked as ((context: object) => unknown) | undefined)?.({ p1DataIndex: 1 });
    };
    expect(dash(joined)).toEqual([1.5, 5]);
    expect(marksKey(joined, "sweep", options())).toContain("dotted");
    expect(dash(trend())).toBeUndefined();
    expect(datasets(trend(), { emphasis: new Set() })[1]?.segment).toBeDefined();
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
    const first = parts(whole)[0] ?? whole;
    const scale = (scope: Figures): number => {
      const y = sweepChart(first, options({ scope })).options?.scales?.y;
      return (y as { suggestedMax?: number } | undefined)?.suggestedMax ?? 0;
    };
    const tops = parts(whole).map((part) => axisTop(part));
    expect(scale(whole)).toBeCloseTo(Math.max(...tops), 6);
  });

  it("lifts a trend off zero only where that shows more, and never on its own", () => {
    const data = trend();
    expect(startsAboveZero(data, options({ trend: true }))).toBe(true);
    expect(startsAboveZero(data, options())).toBe(false);
    expect(marksKey(data, "trend", options())).toContain("does not start at zero");
  });
});

describe("ninesChart", () => {
  const drawn = (data: Figures): NinesDataset[] =>
    ninesChart(data, { ...options(), limit: null }).data.datasets as unknown as NinesDataset[];

  it("places a percentile by its nines", () => {
    expect([0, 90, 99, 99.9].map((one) => Math.round(nines(one) * 1e9) / 1e9)).toEqual([
      0, 1, 2, 3,
    ]);
  });

  it("draws only series with a histogram, each to its own end", () => {
    const data = sample({ series: 3 });
    const short = data.curves?.series[0];
    const cut = {
      ...data,
      curves: data.curves && {
        ...data.curves,
        series: [
          {
            series: short?.series ?? "",
            count: 100,
            points: [
              [50, 800],
              [90, 1200],
            ],
          },
        ],
      },
    } as Figures;
    expect(drawn(data).length).toBe(2);
    expect(drawn(cut).length).toBe(1);
    expect(drawn(cut)[0]?.data.map((one) => [one.percent, one.y])).toEqual([
      [50, 800],
      [90, 1200],
    ]);
  });

  it("has no place for 100 %", () => {
    const data = sample({ series: 2 });
    const id = data.series[0]?.id ?? "";
    const all: Figures = {
      ...data,
      curves: {
        at: 64,
        series: [
          {
            series: id,
            count: 20,
            points: [
              [50, 800],
              [100, 9000],
            ],
          },
        ],
      },
    };
    expect(
      drawn(all)[0]
        ?.data.map((one) => one.x)
        .every(Number.isFinite),
    ).toBe(true);
  });

  it("reads a value at the first point at or beyond its percentile", () => {
    const curve = {
      series: "a",
      count: 9,
      points: [
        [50, 1],
        [99.2, 2],
      ],
    } as const;
    expect([50, 90, 99, 99.9].map((one) => valueAt(curve, one))).toEqual([1, 2, 2, null]);
  });
});

describe("tradeoffChart", () => {
  it("keeps the order of load where throughput falls again, and drops what has no place", () => {
    const falling = series("a", 0, [
      point(1, { rate: 100 }),
      point(8, { rate: 900 }),
      point(16, { rate: null }),
      point(64, { rate: 700, overload: true }),
    ]);
    expect(tradeoffPoints(falling, "p99", false).map((one) => [one.at, one.x])).toEqual([
      [1, 100],
      [8, 900],
      [64, 700],
    ]);
    const config = tradeoffChart(figures({ series: [falling] }), {
      ...options({ emphasis: new Set(["a"]) }),
      latency: "p99",
      limit: null,
    });
    expect(config.data.datasets[0]?.pointBackgroundColor).toEqual(["c0", "c0", "surface"]);
    // The library takes points for sorted by x as soon as it need not parse them.
    expect(config.options?.parsing).not.toBe(false);
  });

  it("takes the asked latency, else p99", () => {
    expect(latencyOf(figures(), "p50")).toBe("p50");
    expect(latencyOf(figures(), "throughput")).toBe("p99");
  });
});

describe("errorsChart", () => {
  const failing = figures({
    series: [
      series("a", 0, [
        point(1, { errors: { timeout: 0.02, status: 0 } }),
        point(8, { errors: null, metrics: { error_rate: measure(0.3) } }),
      ]),
    ],
  });

  it("has a band for each class that occurred, on one scale", () => {
    expect(bandsOf(failing)).toEqual(["total", "timeout"]);
    const scales = errorsChart(failing, options()).options?.scales as Record<
      string,
      { suggestedMax?: number; stack?: string }
    >;
    expect(scales.y_timeout?.suggestedMax).toBe(scales.y?.suggestedMax);
    expect(scales.y_timeout?.stack).toBe(scales.y?.stack);
  });

  it("leaves a gap, not a zero, where classes are unknown, and counts those", () => {
    const drawn = errorsChart(failing, options()).data.datasets as unknown as ErrorDataset[];
    expect(drawn.find((one) => one.band === "timeout")?.data.map((one) => one.y)).toEqual([
      0.02,
      null,
    ]);
    expect(unclassified(failing)).toBe(1);
    expect(errorsNote(failing)).toContain("unknown class");
  });
});

describe("ratioView", () => {
  const one = (value: number, verdict: Ratio["verdict"]): Ratio => ({
    value,
    verdict,
    low: value * 0.98,
    high: value * 1.02,
    why: null,
  });

  it("tints by the direction that is better and the size of the ratio", () => {
    expect(tintOf(one(1.1, "improved"), "higher")).toBe("better-1");
    expect(tintOf(one(1.1, "regressed"), "lower")).toBe("worse-1");
    expect(tintOf(one(0.4, "improved"), "lower")).toBe("better-3");
    expect(tintOf(one(0.6, "regressed"), "higher")).toBe("worse-2");
  });

  it("is grey where nothing can be told apart, however large the ratio", () => {
    expect(tintOf(one(3, "inconclusive"), "higher")).toBe("same");
    expect(tintOf(one(0.97, "unchanged"), "higher")).toBe("same");
  });

  it("shows what was not measured as missing", () => {
    const view = ratioView(sample());
    expect(view?.rows.at(-1)?.cells.at(-1)).toMatchObject({ text: "–", value: null });
    expect(ratioView(figures())).toBeNull();
  });
});

describe("views", () => {
  it("draw every view from one answer, and from an answer of before them", () => {
    const all: ChartView[] = ["sweep", "nines", "tradeoff", "errors", "trend"];
    for (const data of [sample(), trend(), panelled(), figures()]) {
      for (const view of all) {
        if (whyEmpty(data, view, "throughput") !== null) continue;
        const config = viewChart(data, view, { ...options(), limit: 5_000 });
        expect(config.data.datasets.length).toBeGreaterThan(0);
      }
    }
  });

  it("say why there is nothing to draw", () => {
    expect(whyEmpty(figures(), "nines", "throughput")).toContain("histogram");
    expect(whyEmpty(figures(), "ratios", "throughput")).toContain("two or more workloads");
    const unlike = { status: "not_comparable", differing: [], reasons: [] } as const;
    expect(whyEmpty(figures({ outcome: unlike }), "ratios", "throughput")).toContain("withheld");
    expect(whyEmpty(figures(), "sweep", "throughput")).toBeNull();
  });
});

describe("sheet", () => {
  const width = (text: string): number => text.length * 10;

  it("carries title, conditions, override, link and date, and leaves the rest to the chart", () => {
    const written: string[] = [];
    const ctx = {
      measureText: (text: string) => ({ width: width(text) }),
      fillText: (text: string) => written.push(text),
      ...Object.fromEntries(
        [
          "fillRect",
          "save",
          "restore",
          "setLineDash",
          "beginPath",
          "moveTo",
          "lineTo",
          "stroke",
        ].map((name) => [name, () => {}]),
      ),
    } as unknown as CanvasRenderingContext2D;
    const sheet = {
      title: "a beats b",
      subtitle: "Throughput",
      conditions: "wrk 4.1",
      warning: "Overridden",
      legend: [{ label: "server a", colour: "c0", dash: [] }],
      link: "https://bench.example/w/lab/compare?override=1",
      date: "2026-11-21 12:00 UTC",
    };
    const rect = paintSheet(ctx, sheet, theme, 1200, 750);
    expect(written).toEqual([
      "a beats b",
      "wrk 4.1",
      "Overridden",
      "Throughput",
      "\u2068server a\u2069",
      sheet.link,
      "Loadsheet · 2026-11-21 12:00 UTC",
    ]);
    expect(rect.y + rect.height).toBeLessThan(750 - 28);
    expect(rect.height).toBeGreaterThan(450);
  });

  it("wraps at words and ends what does not fit with an ellipsis", () => {
    expect(wrapped("one two three", 80, 3, width)).toEqual(["one two", "three"]);
    expect(wrapped("one two three four", 80, 2, width)).toEqual(["one two", "three f…"]);
    expect(wrapped("x".repeat(50), 80, 2, width)).toEqual(["xxxxxxx…"]);
    expect(wrapped("", 80, 2, width)).toEqual([]);
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
