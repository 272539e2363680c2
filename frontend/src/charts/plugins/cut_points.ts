// Points above the chart: an arrow at its upper edge in the colour of the series, with the value.
import type { Chart, ChartType, Plugin } from "chart.js";
import { type Kind, single } from "../../text/format";
import { fontSize, type Size } from "../style/axes";
import type { DrawnSeries } from "../style/line_style";
import type { ChartTheme } from "../style/theme";
import { seriesOpacity } from "./hover";

const LINE = 15;
const ARROW = 10;

export function cutPoints(kind: Kind, theme: ChartTheme, size: Size): Plugin<ChartType> {
  return {
    id: "cutPoints",
    afterDatasetsDraw(chart) {
      const rows = new Map<number, number>();
      chart.data.datasets.forEach((raw, index) => {
        const dataset = raw as unknown as DrawnSeries & { data: readonly { y: number | null }[] };
        chart.getDatasetMeta(index).data.forEach(({ x, y }, i) => {
          if (!isAbove(chart, y)) return;
          const row = rows.get(Math.round(x)) ?? 0;
          rows.set(Math.round(x), row + 1);
          const text = size === "main" ? single(kind, dataset.data[i]?.y) : "";
          mark(chart, dataset, { x, y: chart.chartArea.top + row * LINE, text }, theme);
        });
      });
    },
  };
}

/** Whether a point of this pixel lies above the chart: marks of a point have no place there. */
export function isAbove({ chartArea }: Chart<ChartType>, y: number): boolean {
  return y < chartArea.top - 1;
}

interface Mark {
  readonly x: number;
  readonly y: number;
  readonly text: string;
}

function mark(
  chart: Chart<ChartType>,
  series: DrawnSeries,
  { x, y, text }: Mark,
  theme: ChartTheme,
): void {
  const { ctx, chartArea } = chart;
  ctx.save();
  ctx.globalAlpha = seriesOpacity(chart, series.seriesId);
  ctx.strokeStyle = series.highlighted ? series.ownColour : theme.context;
  ctx.lineWidth = 2;
  ctx.beginPath();
  ctx.moveTo(x, y + ARROW);
  ctx.lineTo(x, y);
  ctx.moveTo(x - 4, y + 5);
  ctx.lineTo(x, y);
  ctx.lineTo(x + 4, y + 5);
  ctx.stroke();
  ctx.fillStyle = theme.ink;
  ctx.font = `${fontSize("main")}px ${theme.font}`;
  ctx.textBaseline = "top";
  const width = ctx.measureText(text).width;
  ctx.fillText(text, x + 8 + width > chartArea.right ? x - 8 - width : x + 8, y - 1);
  ctx.restore();
}
