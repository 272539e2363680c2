// Loads derived from a sweep: a ring at each saturation point, and a notch on the axis at the
// highest load that kept p99 under the limit.
import type { Chart, ChartType, Plugin } from "chart.js";
import type { Figures, MetricId } from "../../api/figures";
import type { Size } from "../style/axes";
import { seriesColours } from "../style/line_style";
import type { SweepDataset } from "../style/measured_points";
import { isAbove } from "./cut_points";
import { seriesOpacity } from "./hover";

export function loadMarks(figures: Figures, metric: MetricId, size: Size): Plugin<ChartType> {
  const knees = new Map((figures.knees ?? []).map((knee) => [knee.series, knee.x]));
  return {
    id: "loadMarks",
    afterDatasetsDraw(chart) {
      chart.data.datasets.forEach((raw, index) => {
        const dataset = raw as unknown as SweepDataset;
        const knee = knees.get(dataset.seriesId);
        if (knee === undefined || knee === null || !dataset.highlighted) return;
        const place = dataset.data.findIndex((point) => point.at === knee && point.y !== null);
        const element = chart.getDatasetMeta(index).data[place];
        if (element && !isAbove(chart, element.y)) ring(chart, dataset, element, size);
      });
      if (metric === "throughput" || metric === "p99") notches(chart, figures);
    },
  };
}

function ring(
  chart: Chart<ChartType>,
  { seriesId, ownColour }: SweepDataset,
  { x, y }: { readonly x: number; readonly y: number },
  size: Size,
): void {
  const { ctx } = chart;
  ctx.save();
  ctx.globalAlpha = seriesOpacity(chart, seriesId);
  ctx.strokeStyle = ownColour;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.arc(x, y, size === "main" ? 9 : 6, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.restore();
}

/** Notches at one load stand above each other. */
function notches(chart: Chart<ChartType>, figures: Figures): void {
  const { ctx, chartArea, scales } = chart;
  const colours = seriesColours(chart);
  const stacked = new Map<number, number>();
  for (const row of figures.capacity?.rows ?? []) {
    const colour = colours.get(row.series);
    if (row.x === null || colour === undefined) continue;
    const level = stacked.get(row.x) ?? 0;
    stacked.set(row.x, level + 1);
    const x = scales.x?.getPixelForValue(row.x) ?? 0;
    const y = chartArea.bottom - level * 9;
    ctx.save();
    ctx.globalAlpha = seriesOpacity(chart, row.series);
    ctx.fillStyle = colour;
    ctx.beginPath();
    ctx.moveTo(x, y - 9);
    ctx.lineTo(x + 5, y);
    ctx.lineTo(x - 5, y);
    ctx.fill();
    ctx.restore();
  }
}
