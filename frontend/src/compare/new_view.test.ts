// @vitest-environment happy-dom
// A view is one entry of one table: an entry made here is found wherever views are.
import type { ChartConfiguration } from "chart.js";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { headline, summaryText, textBelow } from "../charts/headline";
import { highlightedAtFirst } from "../charts/highlighted";
import { sweepChart } from "../charts/sweep";
import type { View } from "../charts/view";
import { viewIdsModule } from "../charts/view_ids";
import { VIEWS, viewOf, withView } from "../charts/views";
import { paintView } from "../export/paint";
import { briefLegend, sheetOf } from "../export/sheet";
import { options, theme } from "../testing/chart_options";
import { figures } from "../testing/figures";
import { sample } from "../testing/sample_figures";
import { scaleToggles, viewTabs } from "./controls";
import { positionText, seriesStops } from "./keyboard_nav";
import { smallCharts, tabOf } from "./small_charts";
import { TabAxes } from "./tab_axes";
import { viewTables } from "./view_table";

const { painted } = vi.hoisted(() => ({ painted: [] as ChartConfiguration<"line">[] }));

vi.mock("../charts/register", () => ({
  Chart: class {
    constructor(_canvas: unknown, config: ChartConfiguration<"line">) {
      painted.push(config);
    }
    destroy(): void {}
  },
}));

const memory: View = {
  id: "memory",
  name: () => "Memory",
  title: (data) => `Memory against ${data.x.label.toLowerCase()}`,
  build: (data, given) => sweepChart(data, { ...given, metric: "p50" }),
  empty: (data) => (data.series.length > 1 ? null : "Memory of one series says nothing."),
  legend: () => "bar = peak",
  summary: () => ({ lead: "Memory is flat.", rest: "It was read once a second." }),
  stops: (data, series) => [{ x: 1, text: `series ${series} of ${data.series.length}` }],
  weights: (data) => new Map([[data.series.at(-1)?.id ?? "", 1]]),
  lines: (data) => data.series.map(({ id }) => id),
  hasEndLabels: () => false,
  logAxes: () => ({ x: false, y: true }),
  zoom: null,
  isByMetric: false,
  hasDirection: false,
  isFindingOn: () => false,
  cardRank: () => 0,
  tab: "errors",
  table: (data) => ({
    caption: "Peak memory",
    columns: [
      {
        label: "Peak",
        kind: "count",
        unit: { factor: 1, suffix: "", header: "" },
        better: null,
      },
    ],
    rows: data.series.map(({ id }) => ({ series: id, values: [7] })),
  }),
  open: (query) => `${query}&label=once`,
};

beforeAll(() => {
  (VIEWS as View[]).push(memory);
});
afterAll(() => {
  (VIEWS as View[]).pop();
});

const query = "view=memory";

describe("a new view", () => {
  it("is in the module of views that is made for the service", () => {
    expect(viewIdsModule()).toContain('    "trend",\n    "memory",\n)\n');
  });

  it("is asked for and opened by its name", () => {
    expect(viewOf(query)).toBe(memory);
    expect(withView("run=1", memory)).toBe("label=once&run=1&view=memory");
  });

  it("has a tab, its own log axes, and a small chart", () => {
    const asked: string[] = [];
    const tab = viewTabs(figures(), query, new TabAxes(), (next) => asked.push(next)).at(-1);
    expect(tab?.textContent).toBe("Memory");
    expect(tab?.getAttribute("aria-pressed")).toBe("true");
    tab?.click();
    expect(asked).toEqual(["label=once&view=memory"]);
    const [x, y] = scaleToggles(figures(), query, () => {});
    expect([x, y].map((toggle) => toggle?.hasAttribute("disabled"))).toEqual([true, false]);
    const card = smallCharts(figures(), "", "throughput").find(({ view }) => view.id === "memory");
    expect(card && tabOf(figures(), card)).toBe("errors");
  });

  it("has its legend, its sentences and its highlighted series", () => {
    expect(viewOf(query).legend(figures(), options())).toBe("bar = peak");
    expect(headline(figures(), memory, "throughput")).toBe("Memory is flat");
    expect(textBelow(figures(), memory, "throughput")).toBe("It was read once a second.");
    expect(summaryText(figures(), memory, "p99")).toBe(
      "Memory is flat. It was read once a second.",
    );
    expect([...highlightedAtFirst(sample({ series: 9 }), "view=memory")][0]).toBe("10000008");
  });

  it("is walked by the arrow keys and has a table", () => {
    const stops = seriesStops(figures(), memory, "throughput");
    expect(positionText(stops, { series: 1, point: 0 })).toMatch(/server b.* series 1 of 2/);
    const table = viewTables(figures()).at(-1);
    expect(table?.querySelector("caption")?.textContent).toBe("Peak memory");
    expect(table?.querySelectorAll("tbody tr")).toHaveLength(2);
  });

  it("is exported: its chart, its name, its legend, or why there is nothing", () => {
    const highlighted = new Set(["a", "b"]);
    const texts: string[] = [];
    const ctx = {
      drawImage: () => {},
      measureText: () => ({ width: 1 }),
      fillText: (text: string) => texts.push(text),
    } as unknown as CanvasRenderingContext2D;
    const canvas = { width: 1, height: 1, getContext: () => ctx } as unknown as HTMLCanvasElement;
    const paint = (data = figures()): void =>
      paintView(
        ctx,
        {
          figures: data,
          query,
          metric: "throughput",
          highlighted,
          theme,
          pixels: 1,
          makeCanvas: () => canvas,
        },
        { x: 0, y: 0, width: 800, height: 400 },
      );
    paint();
    expect(painted).toHaveLength(1);
    expect(painted[0]?.data.datasets).toHaveLength(2);
    paint(figures({ series: figures().series.slice(0, 1) }));
    expect(texts.join("")).toContain("Memory of one series says nothing.");
    const legend = briefLegend(figures(), memory, highlighted, theme);
    const foot = { legend, link: "", date: "" };
    expect(sheetOf(figures(), query, "throughput", foot)).toMatchObject({
      title: "Memory is flat",
      subtitle: "Memory against connections",
      legend: [{ label: "server a" }, { label: "server b" }],
    });
  });
});
