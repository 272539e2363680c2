// The hovered series in full colour, the others faded. It changes opacity only: a hover costs a
// redraw and never a new layout.
import type { Chart, ChartType, Plugin } from "chart.js";
import type { DrawnSeries } from "../style/line_style";

const FADED = 0.16;
const hovered = new WeakMap<Chart, string>();

export function setHovered(chart: Chart, id: string | null): void {
  // A hidden series has a name in the legend and no line: hovering its name fades nothing.
  const isDrawn = chart.data.datasets.some((_, index) => drawnAt(chart, index).seriesId === id);
  const series = isDrawn ? id : null;
  if ((hovered.get(chart) ?? null) === series) return;
  if (series === null) hovered.delete(chart);
  else hovered.set(chart, series);
  // The tooltip lists the hovered series first; it was filled before that series was known.
  (chart.tooltip as { update?: (changed: boolean) => void } | undefined)?.update?.(true);
  chart.draw();
}

/** Other lines are drawn next: none of them is hovered yet. */
export function forgetHovered(chart: Chart): void {
  hovered.delete(chart);
}

/** The id of the hovered series. */
export function hoveredSeries(chart: unknown): string | null {
  return hovered.get(chart as Chart) ?? null;
}

/** The opacity of a series: faded while another one is hovered. */
export function seriesOpacity(chart: unknown, series: string): number {
  const id = hoveredSeries(chart);
  return id === null || id === series ? 1 : FADED;
}

export function hoverPlugin(): Plugin<ChartType> {
  return {
    id: "highlight",
    beforeDatasetDraw(chart, { index }) {
      chart.ctx.globalAlpha = seriesOpacity(chart, drawnAt(chart, index).seriesId);
    },
    afterDatasetDraw(chart) {
      chart.ctx.globalAlpha = 1;
    },
    afterDatasetsDraw(chart) {
      const id = hoveredSeries(chart);
      if (id === null) return;
      chart.data.datasets.forEach((_, index) => {
        const drawn = drawnAt(chart, index);
        if (drawn.seriesId === id && !drawn.highlighted) colour(chart, index, drawn);
      });
    },
  };
}

function drawnAt(chart: Chart<ChartType>, index: number): DrawnSeries {
  return chart.data.datasets[index] as unknown as DrawnSeries;
}

/** A grey line takes its own colour while it is hovered. */
function colour(chart: Chart<ChartType>, index: number, drawn: DrawnSeries): void {
  const { ctx } = chart;
  ctx.save();
  ctx.strokeStyle = drawn.ownColour;
  ctx.fillStyle = drawn.ownColour;
  ctx.lineWidth = 2;
  ctx.setLineDash([...drawn.ownDash]);
  ctx.beginPath();
  let pen = false;
  for (const element of chart.getDatasetMeta(index).data) {
    const gap = (element as { skip?: boolean }).skip === true;
    if (!gap && pen) ctx.lineTo(element.x, element.y);
    else if (!gap) ctx.moveTo(element.x, element.y);
    pen = !gap;
  }
  if ((chart.data.datasets[index] as { showLine?: boolean }).showLine !== false) ctx.stroke();
  for (const element of chart.getDatasetMeta(index).data) {
    if ((element as { skip?: boolean }).skip) continue;
    ctx.beginPath();
    ctx.arc(element.x, element.y, 3, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
}
