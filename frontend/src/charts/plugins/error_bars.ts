// The evidence behind each point: faint dots for its trials, a whisker for its interval, and a cross
// where more than one attempt in a hundred failed. A whisker that goes on beyond the chart ends in
// an arrow at its edge.
import type { Chart, ChartType, Plugin } from "chart.js";
import { DOT } from "../style/line_style";
import type { SweepDataset, SweepPoint } from "../style/measured_points";
import type { ChartTheme } from "../style/theme";
import { isAbove, isBelow } from "./cut_points";
import { seriesOpacity } from "./hover";

interface Spot {
  readonly x: number;
  readonly y: number;
  readonly point: SweepPoint;
  readonly strength: number;
  readonly crowded: boolean;
}

type Draw = (ctx: CanvasRenderingContext2D, spot: Spot, chart: Chart<ChartType>) => void;

export function errorBars(theme: ChartTheme, size: "main" | "small"): Plugin<ChartType> {
  return {
    id: "evidence",
    beforeDatasetsDraw(chart) {
      eachSpot(chart, (ctx, spot) => {
        if (size === "main" && !spot.crowded) trials(ctx, spot, chart);
        whisker(ctx, spot, chart);
      });
    },
    afterDatasetsDraw(chart) {
      eachSpot(chart, (ctx, spot) => {
        if (spot.point.failing) cross(ctx, spot, theme);
      });
    },
  };
}

function eachSpot(chart: Chart<ChartType>, draw: Draw): void {
  chart.data.datasets.forEach((raw, index) => {
    const dataset = raw as unknown as SweepDataset;
    if (!dataset.highlighted || !chart.isDatasetVisible(index)) return;
    const { ctx } = chart;
    const seen = seriesOpacity(chart, dataset.seriesId);
    const crowded = dataset.pointRadius === DOT;
    ctx.save();
    ctx.strokeStyle = String(dataset.borderColor);
    ctx.fillStyle = String(dataset.borderColor);
    chart.getDatasetMeta(index).data.forEach((element, i) => {
      const point = dataset.data[i];
      if (!point || point.y === null || isAbove(chart, element.y)) return;
      draw(ctx, { x: element.x, y: element.y, point, strength: seen, crowded }, chart);
    });
    ctx.restore();
  });
}

function yPixel({ scales }: Chart<ChartType>, value: number): number {
  // A log axis has no place for zero: it lies below every chart.
  if (scales.y?.type === "logarithmic" && value <= 0) return Number.POSITIVE_INFINITY;
  return scales.y?.getPixelForValue(value) ?? Number.NaN;
}

function trials(ctx: CanvasRenderingContext2D, spot: Spot, chart: Chart<ChartType>): void {
  ctx.globalAlpha = 0.35 * spot.strength;
  for (const value of spot.point.each) trial(ctx, spot.x, yPixel(chart, value), chart);
}

/** A dot, or an arrow at the edge of the chart that the trial lies beyond. */
function trial(ctx: CanvasRenderingContext2D, x: number, y: number, chart: Chart<ChartType>): void {
  const edge = edgeBeside(chart, y);
  ctx.beginPath();
  if (edge === 0) {
    ctx.arc(x, y, 2.5, 0, 2 * Math.PI);
    ctx.fill();
    return;
  }
  end(ctx, x, edge === 1 ? chart.chartArea.top : chart.chartArea.bottom, edge);
  ctx.stroke();
}

/** 1: the place is above the chart; -1: below; 0: inside. */
function edgeBeside(chart: Chart<ChartType>, y: number): 1 | 0 | -1 {
  if (isAbove(chart, y)) return 1;
  return isBelow(chart, y) ? -1 : 0;
}

function whisker(ctx: CanvasRenderingContext2D, spot: Spot, chart: Chart<ChartType>): void {
  const { low, high } = spot.point;
  if (low === null && high === null) return;
  const area = chart.chartArea;
  // Of an interval with one known end, the known half.
  const top = high === null ? spot.y : yPixel(chart, high);
  const bottom = low === null ? spot.y : yPixel(chart, low);
  ctx.globalAlpha = 0.8 * spot.strength;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(spot.x, Math.max(top, area.top));
  ctx.lineTo(spot.x, Math.min(bottom, area.bottom));
  if (high !== null) end(ctx, spot.x, Math.max(top, area.top), top < area.top - 1 ? 1 : 0);
  if (low !== null)
    end(ctx, spot.x, Math.min(bottom, area.bottom), bottom > area.bottom + 1 ? -1 : 0);
  ctx.stroke();
}

/**
 * A cap, or an arrow head: `away` is 1 for upwards, -1 for downwards, 0 for an end that is shown.
 */
function end(ctx: CanvasRenderingContext2D, x: number, y: number, away: 1 | 0 | -1): void {
  const half = 4;
  const back = y + away * 6;
  ctx.moveTo(x - half, back);
  if (away !== 0) ctx.lineTo(x, y);
  ctx.lineTo(x + half, back);
}

function cross(ctx: CanvasRenderingContext2D, spot: Spot, theme: ChartTheme): void {
  const arm = spot.crowded ? 3 : 5;
  ctx.globalAlpha = spot.strength;
  for (const [width, colour] of [
    [5, theme.surface],
    [2, theme.danger],
  ] as const) {
    ctx.lineWidth = width;
    ctx.strokeStyle = colour;
    ctx.beginPath();
    ctx.moveTo(spot.x - arm, spot.y - arm);
    ctx.lineTo(spot.x + arm, spot.y + arm);
    ctx.moveTo(spot.x + arm, spot.y - arm);
    ctx.lineTo(spot.x - arm, spot.y + arm);
    ctx.stroke();
  }
}
