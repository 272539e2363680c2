import { describe, expect, it } from "vitest";
import { type RatioView, ratioView } from "../charts/ratios";
import { canvasFor, width } from "../testing/canvas";
import { theme } from "../testing/chart_options";
import { sample } from "../testing/sample_figures";
import { paintRatios, ratiosHeight } from "./paint_ratios";

describe("the painted table of ratios", () => {
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
});
