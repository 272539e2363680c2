import { describe, expect, it, vi } from "vitest";
import { canvasFor } from "../testing/canvas";
import { theme } from "../testing/chart_options";
import { panelled } from "../testing/sample_figures";
import { paintView } from "./paint";

vi.mock("../charts/register", () => ({
  Chart: class {
    destroy(): void {}
  },
}));

describe("a picture of several panels", () => {
  it("says why a panel has no values, and draws a chart for the others alone", () => {
    const whole = panelled();
    const empty = new Set(whole.panels?.[1]?.series);
    const unknown = { value: null, low: null, high: null };
    const figures = {
      ...whole,
      series: whole.series.map((line) =>
        empty.has(line.id)
          ? {
              ...line,
              points: line.points.map((point) => ({ ...point, metrics: { throughput: unknown } })),
            }
          : line,
      ),
    };
    const written: string[] = [];
    const drawn: string[] = [];
    const ctx = { ...canvasFor(written), drawImage: () => drawn.push("chart") };
    const makeCanvas = (): HTMLCanvasElement =>
      ({ getContext: () => null }) as unknown as HTMLCanvasElement;
    const painting = { figures, query: "", metric: "throughput", highlighted: new Set<string>() };
    paintView(
      ctx as unknown as CanvasRenderingContext2D,
      { ...painting, theme, pixels: 1, makeCanvas },
      { x: 0, y: 0, width: 2000, height: 800 },
    );
    const texts = written.join("|").replace(/[\u2068\u2069]/g, "");
    expect(texts).toContain("static 64 KiB|Throughput is unknown for all series: ");
    expect(texts.match(/is unknown/g)).toHaveLength(1);
    expect(drawn).toEqual(["chart"]);
  });
});
