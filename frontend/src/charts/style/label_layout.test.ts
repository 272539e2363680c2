import { describe, expect, it } from "vitest";
import { canvasFor } from "../../testing/canvas";
import { options, theme } from "../../testing/chart_options";
import { figures } from "../../testing/figures";
import { endLabels } from "../plugins/end_labels";
import { sweepChart } from "../sweep";
import { fitNames, fitText, spreadLabels } from "./label_layout";

describe("labels", () => {
  it("never overlap and stay inside", () => {
    const placed = spreadLabels(
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

  it("are tied to the end of their line, or to a stub where it ends early", () => {
    const from: number[][] = [];
    const ctx = { ...canvasFor([]), moveTo: (x: number, y: number) => from.push([x, y]) };
    const ends = [
      { id: "a", x: 500, y: 80 },
      { id: "b", x: 120, y: 30 },
    ];
    const chart = {
      ctx,
      chartArea: { top: 0, bottom: 200, right: 508 },
      data: {
        datasets: ends.map(({ id, y }) => ({ seriesId: id, highlighted: true, data: [{ y }] })),
      },
      getDatasetMeta: (index: number) => ({ data: [ends[index]] }),
    };
    const series = ends.map(({ id }) => ({ id, label: id }));
    const plugin = endLabels({ theme, width: 178, series });
    const draw = plugin.afterDatasetsDraw as unknown as (chart: object) => void;
    draw(chart);
    expect(from).toEqual([
      [516, 30],
      [507, 80],
    ]);
  });

  it("are cut to fit, with an ellipsis", () => {
    const measured = (text: string): number => text.length * 10;
    expect(fitText("short", 50, measured)).toBe("short");
    expect(fitText("far too long", 50, measured)).toBe("far…");
  });

  it("tell their series apart where both are cut", () => {
    const measured = (text: string): number => text.length * 10;
    const names = ["gunicorn gthread (1 CPU)", "gunicorn gthread (2 CPUs)"];
    expect(fitNames(["far too long", "short"], 50, measured)).toEqual(["far…", "short"]);
    const fitted = fitNames(names, 120, measured);
    expect(new Set(fitted).size).toBe(2);
    expect(Math.max(...fitted.map(measured))).toBeLessThanOrEqual(120);
  });

  it("are numbered where the room is too small for what tells them apart", () => {
    const measured = (text: string): number => text.length * 10;
    const names = ["abcdefgh-1-x", "abcdefgh-2-x", "zbcdefgh-1-x", "b"];
    expect(fitNames(names, 50, measured)).toEqual(["abc…1", "abc…2", "zbcd…", "b"]);
    expect(fitNames(["same name", "same name"], 50, measured)).toEqual(["same…", "same…"]);
  });

  it("are numbered through where a number's room makes two groups alike", () => {
    const measured = (text: string): number => text.length * 10;
    const names = ["abcdX1-left-1", "abcdX2-left-2", "abceY1-right-1", "abceY2-right-2"];
    expect(fitNames(names, 50, measured)).toEqual(["abc…1", "abc…2", "abc…3", "abc…4"]);
    const many = Array.from({ length: 12 }, (_, i) => `abcd${i % 2 ? "X" : "Y"}${i}-${i}-name`);
    const fitted = fitNames(many, 50, measured);
    expect(new Set(fitted).size).toBe(12);
    expect(Math.max(...fitted.map(measured))).toBeLessThanOrEqual(50);
  });
});

describe("names on an axis", () => {
  it("differ on the axis of a small card", () => {
    const values = ["gunicorn gthread", "gunicorn sync"];
    const x = { field: "server", label: "Server", kind: "category" as const, values };
    const card = sweepChart(figures({ x, series: [] }), options({ size: "small" }));
    const axis = card.options?.scales?.x as unknown;
    const { callback } = (axis as { ticks: { callback: (place: number) => string } }).ticks;
    expect(callback(0)).not.toBe(callback(1));
  });
});
