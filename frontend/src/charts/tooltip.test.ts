import type { Chart } from "chart.js";
import { describe, expect, it } from "vitest";
import { options } from "../testing/chart_options";
import { figures, point, series } from "../testing/figures";
import { setHovered } from "./plugins/hover";
import type { SweepDataset } from "./style/measured_points";
import { sweepChart } from "./sweep";

describe("tooltip", () => {
  const loud = new Set(["a"]);
  const many = figures({ series: ["a", "b", "c"].map((id, i) => series(id, i, [point(8, {})])) });

  /** What is listed with a series pointed at, and what stands below. */
  const said = (
    lit: string | null,
    emphasis: ReadonlySet<string> = loud,
  ): readonly [readonly string[], unknown] => {
    const config = sweepChart(many, options({ highlighted: emphasis }));
    const all = config.data.datasets as unknown as SweepDataset[];
    const chart = { data: config.data, draw: () => {} } as unknown as Chart;
    setHovered(chart, lit);
    const items = all.map((dataset) => ({ chart, dataset, parsed: { x: 8, y: 8000 } }));
    const how = config.options?.plugins?.tooltip as unknown as {
      filter: (item: object) => boolean;
      itemSort: (a: object, b: object) => number;
      callbacks: { footer: (items: readonly object[]) => unknown };
    };
    const listed = items.filter(how.filter).sort(how.itemSort);
    const getActiveElements = (): object[] =>
      all.map((_, datasetIndex) => ({ datasetIndex, index: 0 }));
    const footer = how.callbacks.footer.call({ chart, getActiveElements }, listed);
    return [listed.map(({ dataset }) => dataset.seriesId), footer];
  };

  it("lists the line pointed at first, then the loud ones, and counts the rest", () => {
    expect(said(null)).toEqual([["a"], "and 2 more"]);
    expect(said("b")).toEqual([["b", "a"], "and 1 more"]);
    expect(said("a")).toEqual([["a"], "and 2 more"]);
  });

  it("is never without a row, where all are grey and none is lit yet", () => {
    expect(said(null, new Set())).toEqual([["a", "b", "c"], ""]);
  });
});
