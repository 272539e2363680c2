// A hairline at the load point the ranking speaks about.
import type { Plugin } from "chart.js";
import type { ChartTheme } from "../theme";

export function guide(at: number | null, theme: ChartTheme): Plugin<"line"> {
  return {
    id: "guide",
    beforeDatasetsDraw(chart) {
      const scale = chart.scales.x;
      if (at === null || !scale) return;
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
