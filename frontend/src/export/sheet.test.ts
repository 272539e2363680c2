// @vitest-environment happy-dom
import { describe, expect, it, vi } from "vitest";
import type { Figures } from "../api/figures";
import { areAllNamedAtEnds, textBelow } from "../charts/headline";
import { canvasFor, width } from "../testing/canvas";
import { theme, viewNamed } from "../testing/chart_options";
import { figures } from "../testing/figures";
import { panelled, sample } from "../testing/sample_figures";
import { dateOf } from "./save_png";
import {
  briefLegend,
  brokenLink,
  extraHeight,
  legendOf,
  paintSheet,
  type Sheet,
  sheetOf,
  wrapped,
} from "./sheet";

describe("sheet", () => {
  it("carries title, conditions, outcome, what is left out, link and date, and leaves the rest to the chart", () => {
    const written: string[] = [];
    const ctx = canvasFor(written);
    const sheet = {
      name: "My servers",
      title: "a beats b",
      margin: "2.00× [1.9, 2.1]",
      aside: "Not compared: c.",
      subtitle: "Throughput",
      conditions: "wrk 4.1",
      outcome: "▲ Use with care: 1 warning – one host",
      status: "caveats" as const,
      truncated: "Not everything is shown: 29 series.",
      legend: [{ label: "server a", colour: "c0", dash: [] }],
      link: "https://bench.example/w/lab/compare?override=1",
      date: "2026-11-21 12:00 UTC",
    };
    const rect = paintSheet(ctx, sheet, theme, 1200, 750);
    expect(written).toEqual([
      "My servers",
      "a beats b",
      "2.00× [1.9, 2.1]",
      "Not compared: c.",
      "wrk 4.1",
      "▲ Use with care: 1 warning – one host",
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

  it("carries the title that was given, the answer, and how far to trust it", () => {
    const trust = {
      level: "noisy",
      reasons: ["A", "B", "C"].map((text) => ({ text: `${text}.`, remedy: "" })),
      more: 0,
    } as const;
    const answer = { sentence: "Take a", margin: "2×", aside: "Not read: c.", trust };
    const written = (name: string, metric = "throughput"): Sheet =>
      sheetOf(figures({ answer }), "", metric, { legend: [], link: "", date: "", name });
    expect(written("My servers")).toMatchObject({
      name: "My servers",
      title: "Take a",
      margin: "2×",
      aside: "Not read: c.",
      outcome: "◆ Too noisy: A. B. And 1 more.",
      status: "caveats",
    });
    // A title that nobody chose is the beginning of the finding.
    expect(written("server a serves 2× …").name).toBe("");
    expect(written("My servers", "p99")).toMatchObject({ title: "Latency p99", margin: "" });
  });

  it("says how many series of a board it draws", () => {
    const { ranking, series } = figures();
    const [row] = ranking?.rows ?? [];
    if (!ranking || !row) throw new Error("a row");
    const rows = Array.from({ length: 13 }, () => row);
    const foot = { legend: [], link: "", date: "", lines: 1 };
    const board = figures({ ranking: { ...ranking, rows } });
    const text = ` · 1 of ${series.length} series`;
    expect(sheetOf(board, "", "throughput", foot).subtitle.endsWith(text)).toBe(true);
  });

  it("says which series it leaves out", () => {
    const foot = { legend: [], link: "", date: "" };
    expect(sheetOf(figures(), "hidden=a", "throughput", foot).subtitle).toMatch(
      / · 1 series hidden$/,
    );
  });

  it("is headed by the finding only where that is about what is shown", () => {
    const foot = { legend: [], link: "", date: "" };
    const title = (metric: string, query = ""): string =>
      sheetOf(figures(), query, metric, foot).title;
    expect(title("throughput")).toBe(figures().finding);
    expect(title("p99")).toBe("Latency p99");
    expect(title("p99", "view=ratios")).toBe(figures().finding);
    expect(viewNamed("ratios").title(sample(), "p99")).toMatch(/^Throughput as a ratio to/);
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
    const below = (data: Figures, view: string): string =>
      textBelow(data, viewNamed(view), data.metric);
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
    expect(said({}).outcome).toBe("▲ Use with care: 1 warning – client and server share one host");
    const reasons = ["a", "b", "c", "d", "e"];
    expect(said({ outcome: { ...figures().outcome, reasons } }).outcome).toBe(
      "▲ Use with care: 5 warnings – a; b; c; and 2 more",
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
    expect(areAllNamedAtEnds(figures(), viewNamed("sweep"), all)).toBe(true);
    for (const view of ["sweep", "tradeoff"] as const) {
      expect(areAllNamedAtEnds(figures(), viewNamed(view), new Set(["a"]))).toBe(false);
    }
    const data = sample({ series: 3 });
    const drawn = new Set(data.curves?.series.map((curve) => curve.series));
    expect(areAllNamedAtEnds(data, viewNamed("nines"), drawn)).toBe(true);
    expect(areAllNamedAtEnds(data, viewNamed("nines"), new Set())).toBe(false);
    expect(areAllNamedAtEnds(figures(), viewNamed("errors"), all)).toBe(false);
  });

  it("names in a small image only what its lines' ends do not", () => {
    const named = (data: Figures, view: string, loud: readonly string[]): string[] =>
      briefLegend(data, viewNamed(view), new Set(loud), theme).map(({ label }) => label);
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
