import type { Chart } from "chart.js";
import { describe, expect, it, vi } from "vitest";
import {
  type Curve,
  type Figures,
  type Measure,
  parts,
  type RankRow,
  type Ratio,
} from "../api/figures";
import { marksKey } from "../compare/legend";
import { paintRatios, ratiosHeight } from "../export/paint_ratios";
import { dateOf } from "../export/save_png";
import {
  briefLegend,
  brokenLink,
  extraHeight,
  legendOf,
  paintSheet,
  type Sheet,
  sheetOf,
  wrapped,
} from "../export/sheet";
import type { View } from "../query/query";
import { figures, measure, point, series } from "../testing/figures";
import { panelled, sample, trend } from "../testing/sample_figures";
import { bandsOf, type ErrorDataset, errorsChart, unclassified } from "./errors";
import { type NinesDataset, nines, ninesChart, valueAt } from "./percentiles";
import { endLabels } from "./plugins/end_labels";
import { setHighlight } from "./plugins/hover";
import { niceTop, rankingView } from "./ranking";
import { type RatioView, ratioView, TINTS, tintOf } from "./ratios";
import { cutApart, fitted, spread } from "./style/label_layout";
import {
  dashOf,
  defaultEmphasis,
  emphasisOf,
  looksIn,
  markerOf,
  slotsIn,
} from "./style/series_style";
import type { ChartTheme } from "./style/theme";
import {
  hasCutInterval,
  type SweepDataset,
  type SweepOptions,
  type SweepPoint,
  startsAboveZero,
  sweepChart,
} from "./sweep";
import { latencyOf, tradeoffChart, tradeoffPoints } from "./tradeoff";
import {
  type ChartView,
  errorsNote,
  namedAtEnds,
  saidBelow,
  viewChart,
  viewTitle,
  whyEmpty,
} from "./views";

const theme: ChartTheme = {
  ink: "ink",
  muted: "muted",
  grid: "grid",
  surface: "surface",
  context: "context",
  warning: "warning",
  danger: "danger",
  font: "sans-serif",
  series: ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7"],
  tints: Object.fromEntries(TINTS.map((tint) => [tint, tint])) as ChartTheme["tints"],
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
    expect(drawn.map((one) => [one.seriesId, one.loud, one.order])).toEqual([
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
    expect(marksKey(joined, "sweep", options())).toContain("faint stretch");
    expect(stretch(trend())).toEqual({});
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

describe("the scale of errors", () => {
  it("is ticked at its end, also where the band is low", () => {
    const low = figures({
      series: [series("a", 0, [point(1, { metrics: { error_rate: measure(0.017) } })])],
    });
    for (const size of ["main", "small"] as const) {
      const y = errorsChart(low, { ...options(), size }).options?.scales?.y as unknown as {
        max: number;
        afterBuildTicks: (axis: { ticks: { value: number }[] }) => void;
        ticks: { autoSkip: boolean; callback: (value: number) => string };
      };
      const axis: { ticks: { value: number }[] } = { ticks: [] };
      y.afterBuildTicks(axis);
      expect(y.max).toBe(0.02);
      expect(y.ticks.autoSkip).toBe(false);
      expect(axis.ticks.map((tick) => y.ticks.callback(tick.value))).toEqual(["0", "", "2 %"]);
    }
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

  it("has a column for the mean where there is one, and says what it is over", () => {
    const data = sample();
    const { ratios } = data;
    const means = ratios?.rows.map((_, i) =>
      i === 1 ? one(1, "unchanged") : one(1.2, "improved"),
    );
    const over = "Geometric mean over 2 workloads";
    const view = ratioView({
      ...data,
      ratios: ratios && { ...ratios, means, means_text: over, loads: [64, 64, 8] },
    } as Figures);
    expect(view?.columns.at(-1)?.label).toBe("Geometric mean");
    expect(view?.columns.map(({ at }) => at)).toEqual([
      "at 64 connections",
      "at 64 connections",
      "at 8 connections",
      "",
    ]);
    expect(view?.rows[0]?.cells.at(-1)?.text).toBe("×1.20");
    expect(view?.means).toBe(over);
    expect(ratioView(data)?.columns.length).toBe(3);
  });

  it("is painted with its numbers, and says what there was no room for", () => {
    const paint = (rect: { width: number; height: number }): string => {
      const written: string[] = [];
      const view = ratioView(sample());
      if (view) paintRatios(canvasFor(written), view, { x: 0, y: 0, ...rect }, theme);
      return written.join("|").replace(/[\u2068\u2069]/g, "");
    };
    const whole = paint({ width: 2000, height: 400 });
    for (const row of ratioView(sample())?.rows ?? []) {
      expect(whole).toContain(row.label);
      for (const cell of row.cells) expect(whole).toContain(cell.text);
    }
    expect(whole).toContain("static 64 KiB");
    expect(whole).not.toContain("more");
    expect(paint({ width: 440, height: 110 })).toContain(
      "3 more rows and 1 more column at the link",
    );
  });

  it("has a picture as tall as its rows, up to a bound, and a key within its width", () => {
    const ctx = canvasFor([]);
    const rows = (count: number): RatioView => {
      const view = ratioView(sample());
      const row = view?.rows[0];
      if (!view || !row) throw new Error("ratios");
      return { ...view, rows: Array.from({ length: count }, () => row) };
    };
    const [few, more, most] = [4, 15, 400].map((n) => ratiosHeight(ctx, rows(n), theme, 800));
    expect((more ?? 0) - (few ?? 0)).toBe(11 * 38);
    expect(most).toBeLessThan(1200);
    const ends: number[] = [];
    const written: string[] = [];
    const fillText = (text: string, x: number): void => {
      written.push(text.replace(/[\u2068\u2069]/g, ""));
      ends.push(x + width(written.at(-1) ?? ""));
    };
    const rect = { x: 0, y: 0, width: 800, height: more ?? 0 };
    paintRatios({ ...ctx, fillText } as CanvasRenderingContext2D, rows(15), rect, theme);
    expect(Math.max(...ends)).toBeLessThanOrEqual(800);
    expect(written).toContain("not distinguishable");
    expect(written.join("|")).not.toContain("more row");
  });

  it("tells what is withheld from what was not measured, and says why", () => {
    const data = sample();
    const none = { value: null, low: null, high: null, verdict: "inconclusive" } as const;
    const unranked = { ...none, why: "The baseline cannot serve as one: overload" };
    const cells = data.ratios?.cells.map((row) =>
      row.map((cell, i) => (i === 1 ? unranked : cell)),
    );
    const view = ratioView({ ...data, ratios: { ...data.ratios, cells } } as Figures);
    expect(view?.rows.map((row) => row.cells[1]?.text)).toEqual(Array(4).fill("withheld"));
    expect(view?.rows.at(-1)?.cells[2]?.text).toBe("–");
    expect(view?.withheld).toEqual([`4 ratios on json 2 KiB withheld: ${unranked.why}`]);
    const written: string[] = [];
    const rect = { x: 0, y: 0, width: 2000, height: 400 };
    if (view) paintRatios(canvasFor(written), view, rect, theme);
    expect(written.join("|")).toContain(unranked.why);
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
    expect(whyEmpty(sample(), "trend", "throughput")).toContain("these figures lie over");
    expect(whyEmpty(trend(), "trend", "throughput")).toBeNull();
    expect(whyEmpty(figures(), "sweep", "throughput")).toBeNull();
  });
});

function width(text: string): number {
  return text.length * 10;
}

/** A canvas that keeps what is written on it. */
function canvasFor(written: string[]): CanvasRenderingContext2D {
  const painted = "fillRect save restore setLineDash beginPath moveTo lineTo stroke".split(" ");
  return {
    measureText: (text: string) => ({ width: width(text) }),
    fillText: (text: string) => written.push(text),
    ...Object.fromEntries(painted.map((name) => [name, () => {}])),
  } as unknown as CanvasRenderingContext2D;
}

describe("sheet", () => {
  it("carries title, conditions, outcome, what is left out, link and date, and leaves the rest to the chart", () => {
    const written: string[] = [];
    const ctx = canvasFor(written);
    const sheet = {
      title: "a beats b",
      subtitle: "Throughput",
      conditions: "wrk 4.1",
      outcome: "▲ comparable with caveats: one host",
      status: "caveats" as const,
      truncated: "Not everything is shown: 29 series.",
      legend: [{ label: "server a", colour: "c0", dash: [] }],
      link: "https://bench.example/w/lab/compare?override=1",
      date: "2026-11-21 12:00 UTC",
    };
    const rect = paintSheet(ctx, sheet, theme, 1200, 750);
    expect(written).toEqual([
      "a beats b",
      "wrk 4.1",
      "▲ comparable with caveats: one host",
      "Not everything is shown: 29 series.",
      "Throughput",
      "\u2068server a\u2069",
      sheet.link,
      "Loadsheet · 2026-11-21 12:00 UTC",
    ]);
    expect(rect.y + rect.height).toBeLessThan(750 - 28);
    expect(rect.height).toBeGreaterThan(450);
  });

  it("gives a long link all the lines it takes, and the chart the same room", () => {
    const link = `https://bench.example/w/lab/compare?${"server=x&".repeat(60)}x=rate`;
    const written: string[] = [];
    const ctx = canvasFor(written);
    const sheet = sheetOf(figures(), "", "throughput", { legend: [], link, date: "today" });
    const more = extraHeight(ctx, sheet, theme, 1200);
    expect(more).toBeGreaterThan(50);
    const usual = paintSheet(ctx, { ...sheet, link: "https://x/" }, theme, 1200, 750);
    written.length = 0;
    expect(paintSheet(ctx, sheet, theme, 1200, 750 + more)).toEqual(usual);
    expect(written.join("")).toContain(link);
    const pieces = brokenLink(`https://x/${"y".repeat(100)}`, 300, width);
    expect(pieces.join("")).toBe(`https://x/${"y".repeat(100)}`);
    expect(Math.max(...pieces.map(width))).toBeLessThanOrEqual(300);
  });

  it("is headed by the finding only where that is about what is shown", () => {
    const foot = { legend: [], link: "", date: "" };
    const title = (metric: string, query = ""): string =>
      sheetOf(figures(), query, metric, foot).title;
    expect(title("throughput")).toBe(figures().finding);
    expect(title("p99")).toBe("Latency p99");
    expect(title("p99", "view=ratios")).toBe(figures().finding);
    expect(viewTitle(sample(), "ratios", "p99")).toMatch(/^Throughput as a ratio to/);
  });

  it("is headed by what percentiles and errors show, where the finding is of something else", () => {
    const title = (data: Figures, query: string): string =>
      sheetOf(data, query, data.metric, { legend: [], link: "", date: "" }).title;
    const data = sample();
    expect(title(data, "view=errors")).toMatch(/^Attempts failed at .* timed out$/);
    expect(title(data, "view=nines")).toMatch(/^99 % of responses came within [^.]*\.?[^⁨]*\)$/);
    expect(title(data, "view=tradeoff")).toBe(data.finding);
    expect(title({ ...data, metric: "error_rate" }, "view=errors")).toBe(data.finding);
    expect(title({ ...data, metric: "p99" }, "view=nines")).toBe(data.finding);
    expect(title(figures(), "view=nines")).toBe(figures().finding);
  });

  it("says nothing below the name of a view twice, or where nothing is drawn", () => {
    const below = (data: Figures, view: View): string => saidBelow(data, view, data.metric);
    expect(below(sample(), "nines")).toMatch(/^Each curve ends where .* No histogram/);
    expect(below(sample(), "errors")).toBe("");
    expect(below({ ...sample(), metric: "error_rate" }, "errors")).toMatch(/^Attempts failed/);
    expect(below(sample(), "sweep")).toMatch(/^Throughput lies between/);
    expect(below(sample(), "trend")).toBe("");
    expect(below(figures(), "ratios")).toBe("");
  });

  it("is dated with the day its figures were frozen, and today where they go on", () => {
    const page = document.createElement("div");
    page.dataset.frozenAt = "2026-03-01T23:30:00-02:00";
    expect(dateOf(page)).toBe("frozen 2026-03-02 01:30 UTC");
    vi.useFakeTimers({ now: Date.parse("2026-11-21T12:00:00Z"), toFake: ["Date"] });
    expect(dateOf(document.createElement("div"))).toBe("2026-11-21 12:00 UTC");
    vi.useRealTimers();
  });

  it("says the outcome with its reasons, and what is left out", () => {
    const unlike = {
      status: "not_comparable",
      differing: [],
      reasons: ["the CPU differs"],
    } as const;
    const said = (over: Partial<Figures>): Sheet =>
      sheetOf(figures(over), "", "throughput", { legend: [], link: "", date: "" });
    expect(said({ outcome: unlike }).outcome).toBe("■ not comparable: the CPU differs");
    // Snapshots of before the mark have it in their query alone.
    expect(said({ outcome: unlike, query: "override=1" }).outcome).toBe(
      "■ ranked although not comparable: the CPU differs",
    );
    expect(said({ outcome: { ...unlike, overridden: true } }).outcome).toContain("ranked although");
    expect(said({}).outcome).toBe("▲ comparable with caveats: client and server share one host");
    const reasons = ["a", "b", "c", "d", "e"];
    expect(said({ outcome: { ...figures().outcome, reasons } }).outcome).toBe(
      "▲ comparable with caveats: a; b; c; and 2 more",
    );
    const like = { status: "comparable", differing: [], reasons: [] } as const;
    expect(said({ outcome: { ...like, intent: "only the server differs" } }).outcome).toBe(
      "● comparable: only the server differs",
    );
    expect(said({ truncated: null }).truncated).toBe("");
    expect(said({ truncated: "29 series are left out." }).truncated).toBe(
      "29 series are left out.",
    );
  });

  it("names the loud lines, then the grey ones, those of several panels once", () => {
    const data = panelled();
    const loud = new Set(data.series.map((one) => one.id));
    expect(legendOf(data, loud, theme).length).toBe(3);
    const [one, ...others] = legendOf(figures(), new Set(["b"]), theme);
    expect(one).toMatchObject({ label: "server b", colour: "c1" });
    expect(others).toEqual([{ label: "server a", colour: "context", dash: [] }]);
  });

  it("needs no legend only where every drawn line is named at its end", () => {
    const all = new Set(["a", "b"]);
    expect(namedAtEnds(figures(), "sweep", all)).toBe(true);
    for (const view of ["sweep", "tradeoff"] as const) {
      expect(namedAtEnds(figures(), view, new Set(["a"]))).toBe(false);
    }
    const data = sample({ series: 3 });
    const drawn = new Set(data.curves?.series.map((curve) => curve.series));
    expect(namedAtEnds(data, "nines", drawn)).toBe(true);
    expect(namedAtEnds(data, "nines", new Set())).toBe(false);
    expect(namedAtEnds(figures(), "errors", all)).toBe(false);
  });

  it("names in a small image only what its lines' ends do not", () => {
    const named = (data: Figures, view: View, loud: readonly string[]): string[] =>
      briefLegend(data, view, new Set(loud), theme).map(({ label }) => label);
    expect(named(figures(), "sweep", ["a", "b"])).toEqual([]);
    expect(named(figures(), "sweep", ["b"])).toEqual(["server a"]);
    expect(named(figures(), "errors", ["b"])).toEqual(["server b", "server a"]);
    expect(named(figures(), "ratios", ["b"])).toEqual([]);
    const data = sample({ series: 3 });
    expect(named(data, "nines", [])).toEqual(data.series.slice(0, 2).map(({ label }) => label));
  });

  it("wraps at words and ends what does not fit with an ellipsis", () => {
    expect(wrapped("one two three", 80, 3, width)).toEqual(["one two", "three"]);
    expect(wrapped("one two three four", 80, 2, width)).toEqual(["one two", "three f…"]);
    expect(wrapped("x".repeat(50), 80, 2, width)).toEqual(["xxxxxxx…"]);
    expect(wrapped("", 80, 2, width)).toEqual([]);
  });
});

const rankedRow = { value: 1, low: null, high: null, tier: "1", ratio: null };

describe("identity", () => {
  it("gives no two of the first 32 slots one colour with one marker or one dash", () => {
    const slots = Array.from({ length: 32 }, (_, slot) => slot);
    expect(new Set(slots.map((slot) => `${slot % 8} ${markerOf(slot)}`)).size).toBe(32);
    expect(new Set(slots.map((slot) => `${slot % 8} ${dashOf(slot)}`)).size).toBe(32);
  });

  const looks = (...all: [string, number][]): number[] => [
    ...slotsIn(
      figures({
        series: all.map(([id, slot]) => ({ ...series(id, slot, []), server: `of ${slot}` })),
      }),
    ).values(),
  ];

  it("keeps a server's colour, and tells its other series apart by dash and marker", () => {
    const [a, b, c] = looks(["a", 3], ["b", 3], ["c", 0]);
    expect([a, c]).toEqual([3, 0]);
    expect((b ?? 0) % 8).toBe(3);
    expect([dashOf(b ?? 0), markerOf(b ?? 0)]).not.toEqual([dashOf(3), markerOf(3)]);
  });

  it("keeps the colour of the only server too, and tells sixteen series of it apart", () => {
    const many = looks(...Array.from({ length: 16 }, (_, i): [string, number] => [`v${i}`, 3]));
    expect(new Set(many.map((look) => look % 8))).toEqual(new Set([3]));
    expect(new Set(many.map((look) => `${dashOf(look)} ${markerOf(look)}`)).size).toBe(16);
    const first = many.slice(0, 4);
    expect(new Set(first.map(markerOf)).size).toBe(4);
    expect(new Set(first.map((look) => `${dashOf(look)}`)).size).toBe(4);
  });

  it("gives two servers two colours, also where two workspaces gave them one slot", () => {
    const slots = ["a", "b", "c"].map((id, i) => series(id, i === 2 ? 1 : 0, []));
    expect([...slotsIn(figures({ series: slots })).values()]).toEqual([0, 2, 1]);
  });

  it("gives what is called the same one look in all panels", () => {
    const byServer = ["caddy", "nginx"].flatMap((server, slot) =>
      ["bench-1", "bench-2"].map((host) => ({
        ...series(`${server} ${host}`, slot, []),
        label: `${server} 1 (${host})`,
        server,
        host,
        facet: server,
      })),
    );
    const panels = ["caddy", "nginx"].map((value) => ({
      value,
      series: byServer.filter((one) => one.facet === value).map((one) => one.id),
      finding: "",
      outcome: figures().outcome,
      ranking: null,
    }));
    const slots = slotsIn(figures({ series: byServer, panels }));
    expect(slots.get("caddy bench-1")).toBe(slots.get("nginx bench-1"));
    expect(slots.get("caddy bench-2")).toBe(slots.get("nginx bench-2"));
    expect(slots.get("caddy bench-1")).not.toBe(slots.get("caddy bench-2"));
    const named = looksIn(figures({ series: byServer, panels })).map((one) => one.label);
    expect(named).toEqual(["bench-1", "bench-2"]);
    const reversed = slotsIn(figures({ series: [...byServer].reverse(), panels }));
    expect(new Set(reversed.values())).toEqual(new Set(slots.values()));
  });

  it("emphasises at most six, the leaders first", () => {
    const many = Array.from({ length: 9 }, (_, i) => series(`s${i}`, i, []));
    const chosen = defaultEmphasis(many, ["s8", "s7"]);
    expect(chosen.size).toBe(6);
    expect(chosen.has("s8") && chosen.has("s7")).toBe(true);
    expect(defaultEmphasis(many.slice(0, 4), []).size).toBe(4);
  });

  it("emphasises in each view those that it is about", () => {
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
    expect([...emphasisOf(data, "sweep")]).toEqual(["s0", "s1", "s2", "s3", "s4", "s5"]);
    expect([...emphasisOf(data, "errors")]).toEqual(["s8", "s0", "s1", "s2", "s3", "s4"]);
    // The fastest and the slowest, which are spoken of, then the ranking of those with a curve.
    expect([...emphasisOf(data, "nines")]).toEqual(["s7", "s8", "s1", "s2", "s3", "s4"]);
  });

  it("prefers the series with the most points where nothing is ranked", () => {
    const many = Array.from({ length: 9 }, (_, i) =>
      series(`s${i}`, i, i > 2 ? [point(1, {}), point(8, {})] : [point(1, {})]),
    );
    const unranked = figures({ series: many, ranking: null });
    expect([...emphasisOf(unranked, "trend")]).toEqual(["s3", "s4", "s5", "s6", "s7", "s8"]);
  });
});

describe("tooltip", () => {
  const loud = new Set(["a"]);
  const many = figures({ series: ["a", "b", "c"].map((id, i) => series(id, i, [point(8, {})])) });

  /** What is listed with a series pointed at, and what stands below. */
  const said = (
    lit: string | null,
    emphasis: ReadonlySet<string> = loud,
  ): readonly [readonly string[], unknown] => {
    const config = sweepChart(many, options({ emphasis }));
    const all = config.data.datasets as unknown as SweepDataset[];
    const chart = { data: config.data, draw: () => {} } as unknown as Chart;
    setHighlight(chart, lit);
    const items = all.map((dataset) => ({ chart, dataset, parsed: { x: 8, y: 8000 } }));
    const how = config.options?.plugins?.tooltip as unknown as {
      filter: (item: object) => boolean;
      itemSort: (a: object, b: object) => number;
      callbacks: { footer: (items: readonly object[]) => unknown };
    };
    const listed = items.filter(how.filter).sort(how.itemSort);
    const getActiveElements = (): object[] =>
      all.map((_, datasetIndex) => ({ datasetIndex, index: 0 }));
    const footer = how.callbacks.footer.call({ chart, getActiveElements }, listed);
    return [listed.map(({ dataset }) => dataset.seriesId), footer];
  };

  it("lists the line pointed at first, then the loud ones, and counts the rest", () => {
    expect(said(null)).toEqual([["a"], "and 2 more"]);
    expect(said("b")).toEqual([["b", "a"], "and 1 more"]);
    expect(said("a")).toEqual([["a"], "and 2 more"]);
  });

  it("is never without a row, where all are grey and none is lit yet", () => {
    expect(said(null, new Set())).toEqual([["a", "b", "c"], ""]);
  });
});

describe("an axis of names", () => {
  const named = (places: readonly string[]): Figures =>
    figures({
      x: { field: "server", label: "Server", kind: "category", values: [...new Set(places)] },
      series: places.map((place, i) => series(`s${i}`, i, [{ ...point(0, {}), x: place }])),
    });
  const xs = (data: Figures): readonly number[] =>
    datasets(data).flatMap((one) => one.data.map((at) => at.x));

  it("has its marks on their ticks where each place is of one series, else side by side", () => {
    expect(xs(named(["a", "b", "c"]))).toEqual([0, 1, 2]);
    expect(new Set(xs(named(["a", "a", "b"]))).size).toBe(3);
  });

  it("leaves no name out while they have room", () => {
    const scale = (count: number): unknown => {
      const data = named(Array.from({ length: count }, (_, i) => `server ${i}`));
      const x = sweepChart(data, options()).options?.scales?.x as {
        ticks?: { autoSkip?: boolean };
      };
      return x.ticks?.autoSkip;
    };
    expect([scale(9), scale(40)]).toEqual([false, true]);
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

  it("are tied to the end of their own line, wherever that is", () => {
    const from: number[][] = [];
    const ctx = { ...canvasFor([]), moveTo: (x: number, y: number) => from.push([x, y]) };
    const ends = [
      { id: "a", x: 500, y: 80 },
      { id: "b", x: 120, y: 30 },
    ];
    const chart = {
      ctx,
      chartArea: { top: 0, bottom: 200, right: 508 },
      data: { datasets: ends.map(({ id, y }) => ({ seriesId: id, loud: true, data: [{ y }] })) },
      getDatasetMeta: (index: number) => ({ data: [ends[index]] }),
    };
    const texts = new Map(ends.map(({ id }) => [id, id]));
    const plugin = endLabels({ theme, width: 178, texts });
    const draw = plugin.afterDatasetsDraw as unknown as (chart: object) => void;
    draw(chart);
    expect(from).toEqual([
      [127, 30],
      [507, 80],
    ]);
  });

  it("are cut to fit, with an ellipsis", () => {
    const measured = (text: string): number => text.length * 10;
    expect(fitted("short", 50, measured)).toBe("short");
    expect(fitted("far too long", 50, measured)).toBe("far…");
  });
});

describe("names on an axis", () => {
  it("keep what tells them apart when they are cut", () => {
    expect(cutApart(["gunicorn gthread", "gunicorn sync", "nginx"], 12)).toEqual([
      "gunico…hread",
      "gunico… sync",
      "nginx",
    ]);
    expect(cutApart(["gunicorn gthread 23.0", "gunicorn sync 23.0"], 12)).toEqual([
      "…gthread…",
      "…sync…",
    ]);
    expect(cutApart(["one", "one"], 9)).toEqual(["one", "one"]);
    expect([...(cutApart(["😀".repeat(50)], 9)[0] ?? "")]).toHaveLength(9);
  });

  it("differ on the axis of a small card", () => {
    const values = ["gunicorn gthread", "gunicorn sync"];
    const x = { field: "server", label: "Server", kind: "category" as const, values };
    const card = sweepChart(figures({ x, series: [] }), options({ size: "small" }));
    const axis = card.options?.scales?.x as unknown;
    const { callback } = (axis as { ticks: { callback: (place: number) => string } }).ticks;
    expect(callback(0)).not.toBe(callback(1));
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

  it("gives the rankings of all panels one axis", () => {
    const whole = panelled();
    const [first, second] = parts(whole);
    if (!first || !second) throw new Error("two panels");
    const half = (row: RankRow): RankRow => ({ ...row, series: "gone", value: 7, high: null });
    const small = { ...second.ranking, rows: second.ranking?.rows.map(half) };
    const panels = whole.panels?.map((one, i) => (i === 1 ? { ...one, ranking: small } : one));
    const uneven = { ...whole, panels } as Figures;
    const tops = parts(uneven).map((part) => rankingView(part, uneven)?.ticks);
    expect(tops[1]).toEqual(tops[0]);
    expect(rankingView(parts(uneven)[1] ?? uneven)?.ticks).not.toEqual(tops[0]);
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
