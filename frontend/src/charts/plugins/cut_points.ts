// Points above the chart: an arrow at its upper edge in the colour of the series, with the value.
import type { Chart, ChartType, Plugin } from "chart.js";
import { type Kind, single } from "../../text/format";
import { fontSize, type Size } from "../style/axes";
import type { DrawnSeries } from "../style/line_style";
import type { ChartTheme } from "../style/theme";
import { seriesOpacity } from "./hover";

/** Height of an arrow with the value below it, in pixels. */
const LINE = 26;
const ARROW = 10;
/** Between the values of neighbouring points. */
const GAP = 4;

export function cutPoints(kind: Kind, theme: ChartTheme, size: Size): Plugin<ChartType> {
  return {
    id: "cutPoints",
    afterDatasetsDraw(chart) {
      const rows = new Map<number, number>();
      const written: Span[] = [];
      chart.data.datasets.forEach((raw, index) => {
        const dataset = raw as unknown as DrawnSeries & { data: readonly { y: number | null }[] };
        chart.getDatasetMeta(index).data.forEach(({ x, y }, i) => {
          if (!isAbove(chart, y)) return;
          const row = rows.get(Math.round(x)) ?? 0;
          rows.set(Math.round(x), row + 1);
          const spot = { x, y: chart.chartArea.top + row * LINE };
          drawArrow(chart, dataset, spot, theme);
          if (size === "main")
            write(chart, single(kind, dataset.data[i]?.y), spot, { theme, written });
        });
      });
    },
  };
}

/** Whether a point of this pixel lies above the chart: marks of a point have no place there. */
export function isAbove({ chartArea }: Chart<ChartType>, y: number): boolean {
  return y < chartArea.top - 1;
}

/** Whether a place is below the chart. */
export function isBelow({ chartArea }: Chart<ChartType>, y: number): boolean {
  return y > chartArea.bottom + 1;
}

interface Spot {
  readonly x: number;
  readonly y: number;
}

function drawArrow(
  chart: Chart<ChartType>,
  series: DrawnSeries,
  { x, y }: Spot,
  theme: ChartTheme,
): void {
  const { ctx } = chart;
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
  ctx.restore();
}

/** The place of a value that is written. */
interface Span {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** Below its arrow; not over another value, which would make both unreadable. */
function write(
  { ctx, chartArea }: Chart<ChartType>,
  text: string,
  { x, y }: Spot,
  { theme, written }: { readonly theme: ChartTheme; readonly written: Span[] },
): void {
  ctx.save();
  ctx.font = `${fontSize("main")}px ${theme.font}`;
  const width = ctx.measureText(text).width;
  const left = Math.min(Math.max(x - width / 2, chartArea.left), chartArea.right - width);
  const span = { left, right: left + width, y };
  if (!written.some((other) => overlap(span, other))) {
    ctx.fillStyle = theme.ink;
    ctx.textBaseline = "top";
    ctx.fillText(text, left, y + ARROW + 2);
    written.push(span);
  }
  ctx.restore();
}

function overlap(a: Span, b: Span): boolean {
  return a.y === b.y && a.left < b.right + GAP && b.left < a.right + GAP;
}
