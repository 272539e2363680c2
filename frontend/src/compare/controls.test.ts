import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Figures } from "../api/figures";
import { figures } from "../testing/figures";
import { FIELDS } from "../testing/query_fields";
import { panelled, sample, trend } from "../testing/sample_figures";
import { choosers, metricPicker, scaleToggles, viewTabs } from "./controls";
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

  it("scroll to the chosen view within their row", async () => {
    const row = document.body.appendChild(document.createElement("div"));
    const box = (left: number, right: number): DOMRect => new DOMRect(left, 0, right - left, 30);
    row.getBoundingClientRect = () => box(0, 300);
    row.append(...viewTabs(sample(), "view=ratios", new TabAxes(), vi.fn()));
    const tab = row.querySelector<HTMLElement>("[aria-pressed=true]");
    if (!tab) throw new Error("no tab");
    tab.getBoundingClientRect = () => box(420, 480);
    await new Promise(requestAnimationFrame);
    expect(row.scrollLeft).toBe(180);
  });

  it("write the query and nothing else", () => {
    const go = vi.fn();
    document.body.append(...choosers(sample(), "at=64&logx=1&server=a", go));
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
      document.body.replaceChildren(...choosers(data, query, vi.fn()));
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
    document.body.append(...choosers(sample(), "", go));
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

  it("show a few metrics, the chosen one, and the others in groups", () => {
    const choose = vi.fn();
    document.body.append(...metricPicker(sample().metrics, "memory", choose));
    const tabs = [...document.querySelectorAll<HTMLElement>(".tab")].map(
      (one) => one.dataset.metric,
    );
    expect(tabs).toEqual(["throughput", "p50", "p99", "error_rate", "memory", "cpu_per_1k"]);
    expect(document.querySelector('[aria-pressed="true"]')?.textContent).toBe("Memory");
    document.querySelector<HTMLElement>('.menu-item[data-metric="p90"]')?.click();
    expect(choose).toHaveBeenCalledWith("p90");
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
  const trendOf = (data: Figures): string => {
    let asked = "";
    const tabs = viewTabs(data, "at=8", new TabAxes(), (query) => {
      asked = query;
    });
    tabs.find((tab) => tab.dataset.view === "trend")?.click();
    return asked;
  };

  it("keep the ranked load when the axis becomes another", () => {
    expect(trendOf(figures())).toBe("connections=64&view=trend&x=version");
    const open = { field: "rate", label: "Rate", values: [1, 8, 64] };
    expect(trendOf(figures({ x: open }))).toBe("rate=64&view=trend&x=version");
    expect(trendOf(panelled())).toMatch(/^connections=\d+&view=trend/);
    expect(trendOf({ ...trend(), ranking: figures().ranking })).toBe("view=trend&x=version");
  });
});
