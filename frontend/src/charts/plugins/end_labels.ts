// The name of each highlighted line beside the chart, in ink, tied to the line's end by a coloured
// leader. Where the line ends early, a leader across the plot would look like data: a stub of the
// line's colour stands before the name instead.
import type { Chart, ChartType, Plugin } from "chart.js";
import type { Series } from "../../api/figures";
import { isolated, short } from "../../text/format";
import { fitNames, type PlacedLabel, spreadLabels } from "../style/label_layout";
import type { DrawnSeries } from "../style/line_style";
import type { ChartTheme } from "../style/theme";
import { seriesOpacity } from "./hover";

interface LabelOptions {
  readonly theme: ChartTheme;
  readonly width: number;
  readonly series: readonly Pick<Series, "id" | "label">[];
}

/** The room for names on a wide chart, in pixels. */
export const LABEL_WIDTH = 178;

const LINE = 16;
const LEADER = 18;
const CLEAR = 7;
/** The length of a stub. */
const STUB = 8;
/** Of a name, in characters: what is measured is bounded. */
const LONGEST = 200;

interface End {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly colour: string;
}

export function endLabels(options: LabelOptions): Plugin<ChartType> {
  return {
    id: "endLabels",
    afterDatasetsDraw(chart) {
      if (options.width <= 0) return;
      const ends = endsOf(chart);
      const { top, bottom } = chart.chartArea;
      const placed = spreadLabels([...ends.values()], LINE, top + LINE / 2, bottom - LINE / 2);
      const texts = fittedTexts(chart, placed, options);
      placed.forEach((label, i) => {
        const end = ends.get(label.id);
        if (end) write(chart, end, { ...label, text: texts[i] ?? "" }, options);
      });
    },
  };
}

function endsOf(chart: Chart<ChartType>): Map<string, End> {
  const ends = new Map<string, End>();
  chart.data.datasets.forEach((raw, index) => {
    const dataset = raw as unknown as DrawnSeries & { data: readonly { y: number | null }[] };
    if (!dataset.highlighted) return;
    const last = dataset.data.findLastIndex((point) => point.y !== null);
    const element = chart.getDatasetMeta(index).data[last];
    if (!element) return;
    const id = dataset.seriesId;
    // The end of a line may be above the chart.
    const y = Math.max(element.y, chart.chartArea.top);
    ends.set(id, { id, x: element.x, y, colour: dataset.ownColour });
  });
  return ends;
}

/** What stands at each end: cut to the room, and never two alike. */
function fittedTexts(
  { ctx }: Chart<ChartType>,
  placed: readonly PlacedLabel[],
  { series, theme, width }: LabelOptions,
): readonly string[] {
  const texts = new Map(series.map(({ id, label }) => [id, label]));
  ctx.save();
  ctx.font = `12px ${theme.font}`;
  const names = placed.map(({ id }) => short(texts.get(id) ?? id, LONGEST));
  const fitted = fitNames(names, width - LEADER - 4, (part) => ctx.measureText(part).width);
  ctx.restore();
  return fitted;
}

function write(
  chart: Chart<ChartType>,
  end: End,
  placed: PlacedLabel & { readonly text: string },
  options: LabelOptions,
): void {
  const { ctx, chartArea } = chart;
  const start = chartArea.right + 6;
  ctx.save();
  ctx.strokeStyle = end.colour;
  ctx.lineWidth = 1;
  const seen = seriesOpacity(chart, end.id);
  const early = end.x < chartArea.right - LEADER;
  const to = start + LEADER - STUB;
  ctx.globalAlpha = (early ? 1 : 0.7) * seen;
  ctx.beginPath();
  if (early) ctx.moveTo(to - STUB, placed.at);
  else ctx.moveTo(end.x + CLEAR, end.y);
  ctx.lineTo(to, placed.at);
  ctx.stroke();
  ctx.globalAlpha = seen;
  ctx.fillStyle = options.theme.ink;
  ctx.font = `12px ${options.theme.font}`;
  ctx.textBaseline = "middle";
  ctx.fillText(isolated(placed.text), start + LEADER - 4, placed.at);
  ctx.restore();
}
