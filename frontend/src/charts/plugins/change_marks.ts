// Where a series changed: a rule between the version before and the one after, with the ratio.
import type { ChartArea, ChartType, Plugin } from "chart.js";
import { type Change, changesOf, type Figures, type MetricId } from "../../api/figures";
import { times } from "../../text/format";
import { fontSize, placeOf, type Size } from "../style/axes";
import { seriesColours } from "../style/line_style";
import type { ChartTheme } from "../style/theme";
import { seriesOpacity } from "./hover";

const LINE = 15;

export function changeMarks(
  figures: Figures,
  metric: MetricId,
  theme: ChartTheme,
  size: Size,
): Plugin<ChartType> {
  const place = placeOf(figures);
  return {
    id: "changeMarks",
    beforeDatasetsDraw(chart) {
      const { ctx, chartArea } = chart;
      const colours = seriesColours(chart);
      const heights = new Map<string, number>();
      for (const change of changesOf(figures, metric)) {
        const colour = colours.get(change.series);
        const x = chart.scales.x?.getPixelForValue(place(change.x) - 0.5);
        if (colour === undefined || x === undefined || !Number.isFinite(x)) continue;
        const row = heights.get(String(change.x)) ?? 0;
        heights.set(String(change.x), row + 1);
        ctx.save();
        ctx.globalAlpha = seriesOpacity(chart, change.series);
        drawRule(ctx, chartArea, x, colour);
        if (size === "main") write(ctx, change, x + 4, chartArea.top + row * LINE, theme);
        ctx.restore();
      }
    },
  };
}

function drawRule(
  ctx: CanvasRenderingContext2D,
  { top, bottom }: ChartArea,
  x: number,
  colour: string,
): void {
  ctx.strokeStyle = colour;
  ctx.lineWidth = 1.5;
  ctx.setLineDash([5, 3]);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, bottom);
  ctx.stroke();
}

function write(
  ctx: CanvasRenderingContext2D,
  change: Change,
  x: number,
  y: number,
  theme: ChartTheme,
): void {
  ctx.fillStyle = theme.ink;
  ctx.font = `600 ${fontSize("main")}px ${theme.font}`;
  ctx.textBaseline = "top";
  ctx.fillText(times(change.ratio, change.low, change.high), x, y);
}
