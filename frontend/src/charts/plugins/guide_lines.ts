// Thin lines: the load point that is ranked, and a latency limit.
import type { ChartType, Plugin } from "chart.js";
import { single } from "../../text/format";
import { fontSize, type Size } from "../style/axes";
import type { ChartTheme } from "../style/theme";

export function loadLine(at: number | null, theme: ChartTheme): Plugin<ChartType> {
  return {
    id: "guide",
    beforeDatasetsDraw(chart) {
      const scale = chart.scales.x;
      if (at === null || !scale || !(at >= scale.min && at <= scale.max)) return;
      const { ctx, chartArea } = chart;
      const x = Math.round(scale.getPixelForValue(at)) + 0.5;
      ctx.save();
      ctx.strokeStyle = theme.muted;
      ctx.globalAlpha = 0.55;
      ctx.setLineDash([2, 3]);
      ctx.beginPath();
      ctx.moveTo(x, chartArea.top);
      ctx.lineTo(x, chartArea.bottom);
      ctx.stroke();
      ctx.restore();
    },
  };
}

/** A latency limit in microseconds across the chart, named where it begins. */
export function limitLine(limit: number | null, theme: ChartTheme, size: Size): Plugin<ChartType> {
  return {
    id: "limitLine",
    afterDatasetsDraw(chart) {
      const scale = chart.scales.y;
      if (limit === null || !scale || limit > scale.max || limit < scale.min) return;
      const { ctx, chartArea } = chart;
      const y = Math.round(scale.getPixelForValue(limit)) + 0.5;
      ctx.save();
      ctx.strokeStyle = theme.danger;
      ctx.fillStyle = theme.danger;
      ctx.setLineDash([6, 3]);
      ctx.beginPath();
      ctx.moveTo(chartArea.left, y);
      ctx.lineTo(chartArea.right, y);
      ctx.stroke();
      ctx.font = `${fontSize(size)}px ${theme.font}`;
      ctx.textBaseline = y - chartArea.top > 18 ? "bottom" : "top";
      ctx.fillText(
        `limit ${single("time", limit)}`,
        chartArea.left + 6,
        y + (y - chartArea.top > 18 ? -2 : 3),
      );
      ctx.restore();
    },
  };
}
