// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Figures } from "../api/figures";
import { rowsOf } from "../site/dom";
import { figures, measure, point, series } from "../testing/figures";
import "../testing/query_fields";
import { panelled, sample, trend } from "../testing/sample_figures";
import { figuresTable } from "./figures_table";
import { viewTables } from "./view_table";

beforeEach(() => {
  document.body.replaceChildren();
});

function tableOf(data: Figures): HTMLTableElement {
  const [, table] = figuresTable(data);
  if (!(table instanceof HTMLTableElement)) throw new Error("no table");
  return table;
}

describe("table", () => {
  it("holds the drawn numbers, one row per cell, with scopes and a caption", () => {
    const table = tableOf(figures());
    expect(rowsOf(table).length).toBe(5);
    expect(table.querySelector("caption")?.textContent).toContain("server a serves");
    expect(table.querySelectorAll("thead th[scope=col]").length).toBe(8);
    const cells = [...(rowsOf(table)[0]?.children ?? [])].map((cell) => cell.textContent);
    expect(cells.slice(0, 4)).toEqual(["server a", "1", "3", "1,000[950, 1,050]"]);
  });

  it("names the panel of each row", () => {
    const data = { ...panelled(), query: "facet=workload" };
    const table = tableOf(data);
    expect(table.querySelectorAll("thead th")[1]?.textContent).toBe("Workload");
    const named = rowsOf(table).map((row) => row.children[1]?.textContent);
    expect(new Set(named)).toEqual(new Set(["hello 13 B", "static 64 KiB"]));
    expect(tableOf(figures()).querySelectorAll("thead th")[1]?.textContent).toBe("Connections");
  });

  it("heads a column as its cells stand", () => {
    const sides = (data: Figures): (boolean | undefined)[] => {
      const table = tableOf(data);
      const cell = rowsOf(table)[0]?.children[1];
      return [table.querySelectorAll("thead th")[1], cell].map((one) =>
        one?.classList.contains("number"),
      );
    };
    expect(sides(figures())).toEqual([true, true]);
    expect(sides(trend())).toEqual([false, false]);
  });

  it("marks a p99 that may be on the other side of the limit", () => {
    const limit_doubt = "p99 may be over 20 ms: 19.3 ms [17.9, 20.8]";
    const table = tableOf(
      figures({ series: [series("a", 0, [point(8, { limit_doubt }), point(64, {})])] }),
    );
    const marks = [...table.querySelectorAll<HTMLElement>(".limit-doubt")];
    expect(marks.map((mark) => mark.textContent)).toEqual(["may be over 20 ms"]);
    expect(marks[0]?.title).toBe(limit_doubt);
    const cells = [...(rowsOf(table)[0]?.children ?? [])];
    expect(cells.indexOf(marks[0]?.closest("td") ?? table)).toBe(5);
  });

  it("says unknown, never 0", () => {
    const cell = rowsOf(tableOf(figures()))[1]?.children[3];
    expect(cell?.textContent).toBe("unknown");
  });

  it("says below which step a figure is, and what all requests say", () => {
    const below = { ...measure(0), step: 1_000, each: [0, 0, 9_000], pooled: 400 };
    const metrics = { ...point(8, {}).metrics, p50: below };
    const table = tableOf(figures({ series: [series("a", 0, [point(8, { metrics })])] }));
    const cell = [...table.querySelectorAll("td")].find((one) => one.textContent?.startsWith("<"));
    expect(cell?.textContent).toMatch(/^< 1/);
    expect(cell?.title).toContain("all requests together 400");
  });

  it("shows the range of trials that differ tenfold, not their mean", () => {
    const ends = { low: 10_000, high: 500_000, each: [10_000, 10_200, 500_000] };
    const name = "range of the trials, which differ tenfold or more";
    const unlike = { ...measure(37_086), ...ends, interval: name };
    const cellOf = (p50: typeof unlike): HTMLElement | undefined => {
      const metrics = { ...point(8, {}).metrics, p50 };
      const table = tableOf(figures({ series: [series("a", 0, [point(8, { metrics })])] }));
      return rowsOf(table)[0]?.children[4] as HTMLElement | undefined;
    };
    expect(cellOf(unlike)?.textContent).toBe("10.0 to 500");
    expect(cellOf(unlike)?.title).toContain("geometric mean 37,086 µs");
    expect(cellOf(unlike)?.title).toContain("trials differ tenfold or more");
    // Many trials, of which one is far from the others: their interval says more than their range.
    const interval = "95 % interval within this run";
    const many = { ...unlike, low: 30_000, high: 45_000, interval };
    expect(cellOf(many)?.textContent).toBe("37.1[30.0, 45.0]");
  });

  it("sorts with aria-sort and keeps unknown last both ways", () => {
    const table = tableOf(figures());
    const header = table.querySelectorAll("thead th")[3];
    const order = (): string[] =>
      rowsOf(table).map((row) => row.children[3]?.getAttribute("data-sort-value") ?? "");
    header?.querySelector("button")?.click();
    expect(header?.getAttribute("aria-sort")).toBe("descending");
    expect(order()).toEqual(["64000", "32000", "1000", "500", ""]);
    header?.querySelector("button")?.click();
    expect(header?.getAttribute("aria-sort")).toBe("ascending");
    expect(order()).toEqual(["500", "1000", "32000", "64000", ""]);
  });

  it("makes a pressed row the baseline, but not a link in it", () => {
    const choose = vi.fn();
    document.body.append(...figuresTable(figures(), choose));
    document.querySelector<HTMLElement>("tbody td.number")?.click();
    expect(choose).toHaveBeenLastCalledWith("a");
    document.querySelector<HTMLElement>("tbody .checks-cell a")?.click();
    expect(choose).toHaveBeenCalledTimes(1);
    document.querySelectorAll<HTMLElement>(".series-name")[4]?.click();
    expect(choose).toHaveBeenLastCalledWith("b");
  });

  it("makes many rows only when they are asked for, and all of them to sort", () => {
    document.body.append(...figuresTable(sample({ series: 40 })));
    expect(document.querySelectorAll("tbody tr").length).toBe(48);
    document.querySelectorAll<HTMLElement>("thead button")[1]?.click();
    expect(document.querySelectorAll("tbody tr").length).toBe(320);
    expect(document.querySelector(".table-more")).toBeNull();
  });

  it("marks what a phone shows on demand only, and shows it", () => {
    const shown = (data: Figures): (string | undefined)[] =>
      [...tableOf(data).querySelectorAll("thead th:not(.is-minor) button")].map(
        (head) => head.firstChild?.textContent ?? "",
      );
    expect(shown(sample())).toEqual(["Series", "Connections", "Throughput", "Latency p99"]);
    const others = sample().metrics.filter(({ id }) => id !== "throughput" && id !== "p99");
    expect(shown({ ...sample(), metrics: others }).length).toBe(4);
    document.body.append(...figuresTable(sample()));
    const toggle = document.querySelector<HTMLElement>(".table-columns");
    const count = document.querySelectorAll("thead th").length;
    expect(toggle?.textContent).toBe(`Show all ${count} columns`);
    toggle?.click();
    expect(document.querySelector("table.has-all-columns")).not.toBeNull();
    expect(toggle?.getAttribute("aria-expanded")).toBe("true");
    toggle?.click();
    expect(document.querySelector("table.has-all-columns")).toBeNull();
  });

  it("has a column for each class of error that occurred", () => {
    const heads = [...tableOf(sample()).querySelectorAll("thead th")].map((one) => one.textContent);
    expect(heads.filter((text) => text?.startsWith("Errors:")).length).toBe(2);
  });

  it("holds the percentile curves, blank where they have ended", () => {
    const [table] = viewTables(sample());
    expect(table?.querySelector("caption")?.textContent).toContain("64 connections");
    expect(rowsOf(table ?? document).length).toBe(3);
    expect(viewTables(figures())).toEqual([]);
  });
});
