// The name of each loud line at its end, in ink, tied to the line by a short coloured leader.
import type { Chart, Plugin } from "chart.js";
import { fitted, type Placed, spread } from "../labels";
import type { SweepDataset } from "../sweep";
import type { ChartTheme } from "../theme";

export interface LabelOptions {
  readonly theme: ChartTheme;
  readonly width: number;
  readonly texts: ReadonlyMap<string, string>;
}

const LINE = 16;
const LEADER = 18;

interface End {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly colour: string;
}

export function endLabels(options: LabelOptions): Plugin<"line"> {
  return {
    id: "endLabels",
    afterDatasetsDraw(chart) {
      if (options.width <= 0) return;
      const ends = endsOf(chart);
      const { top, bottom } = chart.chartArea;
      const placed = spread([...ends.values()], LINE, top + LINE / 2, bottom - LINE / 2);
      for (const one of placed) {
        const end = ends.get(one.id);
        if (end) write(chart, end, one, options);
      }
    },
  };
}

function endsOf(chart: Chart<"line">): Map<string, End> {
  const ends = new Map<string, End>();
  chart.data.datasets.forEach((raw, index) => {
    const dataset = raw as unknown as SweepDataset;
    if (!dataset.loud) return;
    const last = dataset.data.findLastIndex((point) => point.y !== null);
    const element = chart.getDatasetMeta(index).data[last];
    if (!element) return;
    const id = dataset.seriesId;
    ends.set(id, { id, x: element.x, y: element.y, colour: String(dataset.borderColor) });
  });
  return ends;
}

function write(chart: Chart<"line">, end: End, placed: Placed, options: LabelOptions): void {
  const { ctx, chartArea } = chart;
  const start = chartArea.right + 6;
  ctx.save();
  ctx.strokeStyle = end.colour;
  ctx.lineWidth = 1;
  ctx.globalAlpha = 0.7;
  ctx.beginPath();
  ctx.moveTo(Math.max(end.x + 7, start - 4), end.y);
  ctx.lineTo(start + LEADER - 8, placed.at);
  ctx.stroke();
  ctx.globalAlpha = 1;
  ctx.fillStyle = options.theme.ink;
  ctx.font = `12px ${options.theme.font}`;
  ctx.textBaseline = "middle";
  const text = options.texts.get(end.id) ?? end.id;
  const room = options.width - LEADER - 4;
  const measure = (part: string): number => ctx.measureText(part).width;
  ctx.fillText(fitted(text, room, measure), start + LEADER - 4, placed.at);
  ctx.restore();
}
