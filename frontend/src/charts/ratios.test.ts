import { describe, expect, it } from "vitest";
import type { Figures, Ratio } from "../api/figures";
import { paintRatios } from "../export/paint_ratios";
import { canvasFor } from "../testing/canvas";
import { theme } from "../testing/chart_options";
import { figures } from "../testing/figures";
import { sample } from "../testing/sample_figures";
import { ratioView, tintOf } from "./ratios";

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

  it("is faint where the size is uncertain, however large the ratio", () => {
    expect(tintOf(one(3, "size_uncertain"), "higher")).toBe("better-1");
    expect(tintOf(one(3, "size_uncertain"), "lower")).toBe("worse-1");
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
    expect(view?.rows[0]?.cells.at(-1)?.text).toBe("1.20×");
    expect(view?.means).toBe(over);
    expect(ratioView(data)?.columns.length).toBe(3);
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
