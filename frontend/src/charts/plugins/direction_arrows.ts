// Which way the load grows along a line: a small head in the middle of each longer segment.
import type { ChartType, Plugin } from "chart.js";
import type { DrawnSeries } from "../style/line_style";
import { isAbove } from "./cut_points";
import { seriesOpacity } from "./hover";

const SHORTEST = 26;

export function directionArrows(): Plugin<ChartType> {
  return {
    id: "arrows",
    afterDatasetsDraw(chart) {
      chart.data.datasets.forEach((raw, index) => {
        const dataset = raw as unknown as DrawnSeries & { showLine?: boolean };
        if (!dataset.highlighted || dataset.showLine === false) return;
        const { ctx } = chart;
        ctx.save();
        ctx.fillStyle = dataset.ownColour;
        ctx.globalAlpha = seriesOpacity(chart, dataset.seriesId);
        const elements = chart.getDatasetMeta(index).data;
        elements.forEach((to, i) => {
          const from = elements[i - 1];
          const isShown =
            from && !skips(from) && !skips(to) && !isAbove(chart, (from.y + to.y) / 2);
          if (isShown) head(ctx, from, to);
        });
        ctx.restore();
      });
    },
  };
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

function skips(element: unknown): boolean {
  return (element as { skip?: boolean }).skip === true;
}

function head(ctx: CanvasRenderingContext2D, from: Spot, to: Spot): void {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  if (length < SHORTEST) return;
  ctx.save();
  ctx.translate(from.x + dx / 2, from.y + dy / 2);
  ctx.rotate(Math.atan2(dy, dx));
  ctx.beginPath();
  ctx.moveTo(5, 0);
  ctx.lineTo(-4, -4);
  ctx.lineTo(-4, 4);
  ctx.fill();
  ctx.restore();
}
