// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Figures } from "../api/figures";
import { figures } from "../testing/figures";
import { FIELDS } from "../testing/query_fields";
import { panelled, sample, trend } from "../testing/sample_figures";
import {
  arrangement,
  baselineSelect,
  limitControls,
  questionControls,
  scaleToggles,
  viewTabs,
} from "./controls";
import { TabAxes } from "./tab_axes";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("controls", () => {
  const control = (name: string): HTMLInputElement | HTMLSelectElement | null =>
    document.querySelector(`[data-control="${name}"]`);

  function change(name: string, value: string): void {
    const field = control(name);
    if (!field) throw new Error(`no ${name}`);
    field.value = value;
    field.dispatchEvent(new Event("change"));
  }

  /** All controls that ask the service. */
  function controls(data: Figures, query: string, go: (query: string) => void): HTMLElement[] {
    const asked = { metrics: data.metrics, metric: "throughput", choose: vi.fn(), go };
    return [
      ...questionControls(data, query, asked),
      ...limitControls(query, go),
      baselineSelect(data, query, go),
      ...arrangement(data, query, go),
    ];
  }

  it("leave metric and load in sight where there is little room", () => {
    const asked = { metrics: sample().metrics, metric: "throughput", choose: vi.fn(), go: vi.fn() };
    const names = (fields: readonly HTMLElement[]): (string | undefined)[] =>
      fields.map((field) => field.querySelector<HTMLElement>("[data-control]")?.dataset.control);
    expect(names(questionControls(sample(), "", asked))).toEqual(["metric", "at"]);
    expect(names(limitControls("", vi.fn()))).toEqual(["limit"]);
  });

  it("write the query and nothing else", () => {
    const go = vi.fn();
    document.body.append(...controls(sample(), "at=64&logx=1&server=a", go));
    change("x", "version");
    expect(go).toHaveBeenLastCalledWith("server=a&x=version");
    change("facet", "workload");
    expect(go).toHaveBeenLastCalledWith("at=64&facet=workload&logx=1&server=a");
    vi.useFakeTimers();
    change("limit", "2.5");
    expect(go).not.toHaveBeenLastCalledWith(expect.stringContaining("limit"));
    vi.runAllTimers();
    vi.useRealTimers();
    expect(go).toHaveBeenLastCalledWith("at=64&limit=2500&logx=1&server=a");
    change("baseline", sample().series[1]?.id ?? "");
    expect(go).toHaveBeenLastCalledWith("at=64&baseline=10000001&logx=1&server=a");
  });

  it("name a baseline that is not shown by the name it had, never by its id", () => {
    const chosen = (data: Figures, query: string): string | undefined => {
      document.body.replaceChildren(...controls(data, query, vi.fn()));
      const options = [...(control("baseline")?.querySelectorAll("option") ?? [])];
      return options.find((option) => `baseline=${option.value}` === query)?.textContent;
    };
    const [first, second] = sample().series;
    const query = `baseline=${second?.id}`;
    const name = chosen(sample(), query);
    const left = { ...sample(), series: first ? [first] : [] };
    expect(chosen(left, query)).toBe(`${name} (not shown)`);
    expect(chosen(left, "baseline=ffffffff")).toBe("A series (not shown)");
  });

  it("offer the fields that the page delivers, and no others", () => {
    const go = vi.fn();
    document.body.append(...controls(sample(), "", go));
    const offered = (name: string): string[] =>
      [...(control(name)?.querySelectorAll("option") ?? [])].map((option) => option.value);
    const ids = (fields: typeof FIELDS.axes): string[] => fields.map(([id]) => id);
    expect(offered("x")).toEqual(ids(FIELDS.axes));
    expect(offered("facet")).toEqual(["", ...ids(FIELDS.grouping)]);
    const boxes = [...document.querySelectorAll<HTMLInputElement>(".menu-check input")];
    expect(boxes.map((box) => box.value)).toEqual(ids(FIELDS.grouping));
    expect(document.body.textContent).toContain("colour of the case");
    change("x", "colour");
    expect(go).toHaveBeenLastCalledWith("x=colour");
  });

  it("offer the metrics in groups, and loads and a limit only where the service can be asked", () => {
    const choose = vi.fn();
    const { metrics } = sample();
    const asked = { metrics, metric: "memory", choose, go: null };
    document.body.append(...questionControls(sample(), "", asked));
    expect(document.querySelectorAll("[data-control]").length).toBe(1);
    expect(control("metric")?.value).toBe("memory");
    const groups = [...document.querySelectorAll("optgroup")].map((group) => group.label);
    expect(groups).toEqual(["Rate", "Latency", "Errors", "Resources"]);
    expect(document.querySelectorAll("option").length).toBe(metrics.length);
    change("metric", "p90");
    expect(choose).toHaveBeenCalledWith("p90");
  });

  it("choose the load that is ranked", () => {
    const go = vi.fn();
    document.body.append(...controls(figures(), "", go));
    expect(control("at")?.value).toBe("64");
    change("at", "8");
    expect(go).toHaveBeenLastCalledWith("at=8");
  });

  it("offer logarithmic axes where a view has them", () => {
    document.body.append(...scaleToggles(sample(), "view=errors&logy=1", vi.fn()));
    const [x, y] = document.querySelectorAll<HTMLButtonElement>(".toggle");
    expect([x?.disabled, y?.disabled, y?.getAttribute("aria-pressed")]).toEqual([
      false,
      true,
      "false",
    ]);
  });
});

describe("tabs of views", () => {
  const idsOf = (data: Figures, query = "", isLive = true): (string | undefined)[] =>
    viewTabs(data, query, new TabAxes(), () => {}, isLive).map((tab) => tab.dataset.view);

  it("are those with something to show, and the chosen one", () => {
    expect(idsOf(figures())).toEqual(["sweep", "tradeoff", "errors"]);
    expect(idsOf(figures(), "view=ratios")).toContain("ratios");
    expect(idsOf(sample({ series: 4 }))).toContain("nines");
    expect(idsOf(versions())).toContain("trend");
    // A frozen page cannot ask for another axis.
    expect(idsOf(versions(), "", false)).not.toContain("trend");
    // Figures of a trend do not say what the other tabs would have.
    expect(idsOf(trend(), "view=trend&x=version")).toContain("nines");
  });

  it("open the trend of one version over its days", () => {
    const [first] = figures().runs;
    const later = { id: "2", started_at: "2026-12-01T05:40:00Z", url: "/r/2", trials: 3 };
    const runs = first ? [first, later] : [];
    expect(trendOf(figures({ runs }))).toBe("connections=64&view=trend&x=date");
  });

  /** One server in two versions. */
  const versions = (over: Partial<Figures> = {}): Figures =>
    figures({
      series: figures().series.map((line, i) => ({ ...line, server: "a", version: `${i}` })),
      ...over,
    });

  const trendOf = (data: Figures): string => {
    let asked = "";
    const tabs = viewTabs(data, "at=8", new TabAxes(), (query) => {
      asked = query;
    });
    tabs.find((tab) => tab.dataset.view === "trend")?.click();
    return asked;
  };

  it("keep the ranked load when the axis becomes another", () => {
    expect(trendOf(versions())).toBe("connections=64&view=trend&x=version");
    const open = { field: "rate", label: "Rate", values: [1, 8, 64] };
    expect(trendOf(versions({ x: open }))).toBe("rate=64&view=trend&x=version");
    const later = { id: "2", started_at: "2026-12-01T05:40:00Z", url: "/r/2", trials: 3 };
    const days = { ...panelled(), runs: [...figures().runs, later] };
    expect(trendOf(days)).toMatch(/^connections=\d+&view=trend/);
    expect(trendOf({ ...trend(), ranking: figures().ranking })).toBe("view=trend&x=version");
  });
});
