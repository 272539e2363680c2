// What a tooltip lists: the series under the pointer, then the highlighted ones; the rest is
// counted.
import type { Chart, TooltipCallbacks, TooltipItem, TooltipOptions } from "chart.js";
import { hoveredSeries } from "./plugins/hover";
import type { DrawnSeries } from "./style/line_style";
import type { ChartTheme } from "./style/theme";

type Item = TooltipItem<"line">;

export interface TooltipText {
  readonly title: (items: Item[]) => string;
  readonly label: (item: Item) => string;
  readonly order?: (a: Item, b: Item) => number;
  /** Whether a value is worth a row at all. */
  readonly hasRow?: (value: number | null) => boolean;
}

interface TooltipLook extends Partial<Omit<TooltipOptions<"line">, "callbacks">> {
  readonly callbacks: Partial<TooltipCallbacks<"line">>;
}

/** The hovered series, then the highlighted ones; grey ones are counted. */
export function tooltip(theme: ChartTheme, text: TooltipText): TooltipLook {
  const { title, label, order = () => 0, hasRow = () => true } = text;
  return {
    ...tooltipLook(theme),
    filter: (item, index, items) => {
      // A pointer that arrives in one move stops before its series is hovered: list the first few.
      const hasColoured = items.some((other) => isColoured(other) && hasRow(other.parsed.y));
      return (hasColoured ? isColoured(item) : index < FEW_GREY) && hasRow(item.parsed.y);
    },
    itemSort: (a, b) => Number(isHovered(b)) - Number(isHovered(a)) || order(a, b),
    callbacks: {
      title,
      label,
      labelColor: (item) => {
        const colour = seriesOf(item).ownColour;
        return { borderColor: colour, backgroundColor: colour };
      },
      footer(items) {
        const rows = this.getActiveElements().filter(({ datasetIndex, index }) =>
          hasRow(valueAt(this.chart, datasetIndex, index)),
        );
        return items.length < rows.length ? `and ${rows.length - items.length} more` : "";
      },
    },
  };
}

const FEW_GREY = 3;

function isColoured(item: Item): boolean {
  return seriesOf(item).highlighted || isHovered(item);
}

function seriesOf(item: Item): DrawnSeries {
  return item.dataset as unknown as DrawnSeries;
}

function isHovered(item: Item): boolean {
  return hoveredSeries(item.chart) === seriesOf(item).seriesId;
}

function valueAt(chart: Chart, dataset: number, index: number): number | null {
  const data = chart.data.datasets[dataset]?.data as unknown as readonly { y: number | null }[];
  return data[index]?.y ?? null;
}

function tooltipLook(theme: ChartTheme): Omit<TooltipLook, "callbacks"> {
  return {
    backgroundColor: theme.surface,
    borderColor: theme.muted,
    borderWidth: 1,
    titleColor: theme.ink,
    bodyColor: theme.ink,
    titleFont: { family: theme.font, size: 12 },
    bodyFont: { family: theme.font, size: 12 },
    footerColor: theme.muted,
    footerFont: { family: theme.font, size: 12, weight: "normal" },
    cornerRadius: 6,
    padding: 10,
    boxPadding: 4,
    usePointStyle: true,
  };
}
