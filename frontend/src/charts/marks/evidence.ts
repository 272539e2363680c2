// What stands behind each point: faint dots for its trials, a whisker for its interval, and
// a cross where more than one attempt in a hundred failed.
import type { Chart, Plugin } from "chart.js";
import type { SweepDataset, SweepPoint } from "../sweep";
import type { ChartTheme } from "../theme";

interface Spot {
  readonly x: number;
  readonly y: number;
  readonly point: SweepPoint;
}

type Draw = (ctx: CanvasRenderingContext2D, spot: Spot, chart: Chart<"line">) => void;

export function evidence(theme: ChartTheme, size: "main" | "small"): Plugin<"line"> {
  return {
    id: "evidence",
    beforeDatasetsDraw(chart) {
      eachSpot(chart, (ctx, spot) => {
        if (size === "main") trials(ctx, spot, chart);
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

function eachSpot(chart: Chart<"line">, draw: Draw): void {
  chart.data.datasets.forEach((raw, index) => {
    const dataset = raw as unknown as SweepDataset;
    if (!dataset.loud || !chart.isDatasetVisible(index)) return;
    const { ctx } = chart;
    ctx.save();
    ctx.strokeStyle = String(dataset.borderColor);
    ctx.fillStyle = String(dataset.borderColor);
    chart.getDatasetMeta(index).data.forEach((element, i) => {
      const point = dataset.data[i];
      if (point && point.y !== null) draw(ctx, { x: element.x, y: element.y, point }, chart);
    });
    ctx.restore();
  });
}

function yPixel(chart: Chart<"line">, value: number): number {
  return chart.scales.y?.getPixelForValue(value) ?? Number.NaN;
}

function trials(ctx: CanvasRenderingContext2D, spot: Spot, chart: Chart<"line">): void {
  ctx.globalAlpha = 0.35;
  for (const value of spot.point.each) {
    ctx.beginPath();
    ctx.arc(spot.x, yPixel(chart, value), 2.5, 0, 2 * Math.PI);
    ctx.fill();
  }
}

function whisker(ctx: CanvasRenderingContext2D, spot: Spot, chart: Chart<"line">): void {
  const { low, high } = spot.point;
  if (low === null || high === null) return;
  const top = yPixel(chart, high);
  const bottom = yPixel(chart, low);
  const cap = 4;
  ctx.globalAlpha = 0.8;
  ctx.lineWidth = 1.5;
  ctx.beginPath();
  ctx.moveTo(spot.x, top);
  ctx.lineTo(spot.x, bottom);
  for (const y of [top, bottom]) {
    ctx.moveTo(spot.x - cap, y);
    ctx.lineTo(spot.x + cap, y);
  }
  ctx.stroke();
}

function cross(ctx: CanvasRenderingContext2D, spot: Spot, theme: ChartTheme): void {
  const arm = 5;
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
