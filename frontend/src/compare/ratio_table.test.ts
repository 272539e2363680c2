// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import type { Figures } from "../api/figures";
import { rowsOf } from "../site/dom";
import { sample } from "../testing/sample_figures";
import { ratioTable } from "./ratio_table";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("ratios", () => {
  it("are a table with a number in each cell and its tint", () => {
    document.body.append(ratioTable(sample()));
    const rows = rowsOf(document);
    expect(rows.length).toBe(4);
    expect(document.querySelectorAll("tbody th[scope=row]").length).toBe(4);
    expect(document.querySelector("caption")?.textContent).toContain("as a ratio to");
    expect(rows[1]?.children[1]?.className).toContain("ratio-same");
    expect(rows[0]?.children[3]?.className).toContain("ratio-better");
  });

  it("say below the table why some are withheld", () => {
    const data = sample();
    const none = { value: null, low: null, high: null, verdict: "inconclusive" } as const;
    const cells = data.ratios?.cells.map((row, i) =>
      row.map((cell) => (i === 0 ? { ...none, why: "more than 1 % of attempts failed" } : cell)),
    );
    document.body.append(ratioTable({ ...data, ratios: { ...data.ratios, cells } } as Figures));
    expect(rowsOf(document)[0]?.textContent).toContain("withheld");
    expect([...document.querySelectorAll(".hint")].map((one) => one.textContent)).toContain(
      "3 ratios on hello 13 B, json 2 KiB, static 64 KiB withheld: more than 1 % of attempts failed",
    );
  });
});
