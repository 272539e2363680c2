// The sheet around an exported chart: title, conditions, outcome, legend, link and date. Paints on
// any 2D context, in a browser or not; knows no DOM.
import type { Figures, MetricId, Outcome } from "../api/figures";
import { isBoard, partText } from "../charts/drawn";
import { hasEndLabels, toldOf } from "../charts/headline";
import { fitText } from "../charts/style/label_layout";
import { colourOf, dashOf, seriesStyles } from "../charts/style/series_style";
import type { ChartTheme } from "../charts/style/theme";
import type { View } from "../charts/view";
import { viewOf } from "../charts/views";
import { truncatedText } from "../text/comparability";
import { isolated, plural, short } from "../text/format";
import { shortNames } from "../text/names";
import { LEVELS, trustOf, trustText } from "../text/trust";

export interface SheetLine {
  readonly label: string;
  readonly colour: string;
  readonly dash: readonly number[];
}

export interface Sheet {
  /** The name that the author gave; empty without one, or where it repeats the answer. */
  readonly name: string;
  /** The answer, or the headline of the view. */
  readonly title: string;
  /** By how much, and which series the answer leaves aside; empty where nothing is to be said. */
  readonly margin: string;
  readonly aside: string;
  /** What the chart shows, below the title. */
  readonly subtitle: string;
  readonly conditions: string;
  /** How far to trust the answer, in words, and how grave that is. */
  readonly outcome: string;
  readonly status: Outcome["status"];
  /** A sentence on the series that were left out; empty where all are shown. */
  readonly truncated: string;
  readonly legend: readonly SheetLine[];
  readonly link: string;
  readonly date: string;
  /** Fewer lines of the title, so that several panels have room. */
  readonly short?: boolean;
}

export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

type SheetExtras = Pick<Sheet, "legend" | "link" | "date" | "short"> & {
  /** The title that the author gave. */
  readonly name?: string;
  /** How many series are drawn. */
  readonly lines?: number;
};

/** The texts on the sheet of a view. */
export function sheetOf(
  figures: Figures,
  query: string,
  metric: MetricId,
  { name = "", lines = figures.series.length, ...more }: SheetExtras,
): Sheet {
  const view = viewOf(query);
  const { sentence, margin, aside } = toldOf(figures, view, metric);
  return {
    name: [sentence, figures.finding].some((text) => repeats(text, name)) ? "" : name,
    title: sentence,
    margin: margin ?? "",
    aside: aside ?? "",
    // A picture has no legend to press: it says what was left out.
    subtitle: [view.title(figures, metric), partText(figures, query), chosenText(figures, lines)]
      .filter(Boolean)
      .join(" · "),
    conditions: figures.conditions,
    outcome: trustText(figures),
    status: LEVELS[trustOf(figures).level].status,
    truncated: truncatedText(figures),
    ...more,
  };
}

/** "6 of 40 series", of a board. */
function chosenText(figures: Figures, lines: number): string {
  return isBoard(figures) ? `${lines} of ${figures.series.length} series` : "";
}

/** Whether a name is the beginning of the text, as names are that nobody chose. */
function repeats(text: string, name: string): boolean {
  return text.startsWith(name.replace(/ ?…$/, ""));
}

const GRAVITY = { comparable: "muted", caveats: "warning", not_comparable: "danger" } as const;

/** The highlighted lines, then the grey ones; a line of several panels stands once. */
export function legendOf(
  figures: Figures,
  highlighted: ReadonlySet<string>,
  theme: ChartTheme,
): readonly SheetLine[] {
  const lines = seriesStyles(figures).map(({ label, slot, ids }) =>
    ids.some((id) => highlighted.has(id))
      ? { isHighlighted: true, label, colour: colourOf(slot, theme), dash: dashOf(slot) }
      : { isHighlighted: false, label, colour: theme.context, dash: [] },
  );
  return lines
    .sort((a, b) => Number(b.isHighlighted) - Number(a.isHighlighted))
    .map(({ label, colour, dash }) => ({ label, colour, dash }));
}

/** The lines that the view itself does not name, where room is scarce. */
export function briefLegend(
  figures: Figures,
  view: View,
  highlighted: ReadonlySet<string>,
  theme: ChartTheme,
): readonly SheetLine[] {
  if (view.build === null) return [];
  if (!hasEndLabels(figures, view)) return legendOf(figures, highlighted, theme);
  const drawn = new Set(view.lines(figures));
  const grey = figures.series.filter(({ id }) => drawn.has(id) && !highlighted.has(id));
  return legendOf({ ...figures, series: grey }, highlighted, theme);
}

const PAD = 28;
const MOST_TITLE = 3;

/** Paints everything but the chart and gives the chart's place. `height` includes `extraHeight`. */
export function paintSheet(
  ctx: CanvasRenderingContext2D,
  sheet: Sheet,
  theme: ChartTheme,
  width: number,
  height: number,
): Rect {
  ctx.fillStyle = theme.surface;
  ctx.fillRect(0, 0, width, height);
  ctx.textBaseline = "top";
  const room = width - 2 * PAD;
  let y = PAD;
  for (const { text, above, ...style } of paragraphs(sheet, theme)) {
    y = paragraph(ctx, text, { theme, room, y: y + above, ...style });
  }
  y = legend(ctx, sheet.legend, theme, y + 6, width);
  const foot = height - PAD - 14 - extraHeight(ctx, sheet, theme, width);
  footer(ctx, sheet, theme, foot, width);
  return { x: PAD - 6, y, width: room + 12, height: foot - 12 - y };
}

interface SheetText extends Pick<Text, "size" | "weight" | "colour" | "most"> {
  readonly text: string;
  /** Space above it, in pixels. */
  readonly above: number;
}

/** The texts above the chart, from the title down. */
function paragraphs(sheet: Sheet, theme: ChartTheme): readonly SheetText[] {
  const titleLines = sheet.short ? MOST_TITLE - 1 : MOST_TITLE;
  const { ink, muted, warning } = theme;
  const outcome = theme[GRAVITY[sheet.status]];
  // Weights in whole hundreds: not every canvas knows those between them.
  return [
    { text: sheet.name, above: 0, size: 15, weight: 600, colour: muted, most: 1 },
    { text: sheet.title, above: 0, size: 22, weight: 700, colour: ink, most: titleLines },
    { text: sheet.margin, above: 2, size: 15, weight: 400, colour: ink, most: 2 },
    { text: sheet.aside, above: 0, size: 14, weight: 400, colour: muted, most: 2 },
    { text: sheet.conditions, above: 4, size: 14, weight: 400, colour: muted, most: 3 },
    { text: sheet.outcome, above: 2, size: 14, weight: 600, colour: outcome, most: 2 },
    { text: sheet.truncated, above: 2, size: 14, weight: 600, colour: warning, most: 2 },
    { text: sheet.subtitle, above: 12, size: 15, weight: 600, colour: ink, most: 1 },
  ];
}

interface Text {
  readonly theme: ChartTheme;
  readonly y: number;
  readonly room: number;
  readonly size: number;
  readonly weight: number;
  readonly colour: string;
  readonly most: number;
}

function paragraph(ctx: CanvasRenderingContext2D, text: string, how: Text): number {
  ctx.font = `${how.weight} ${how.size}px ${how.theme.font}`;
  ctx.fillStyle = how.colour;
  const lines = wrapped(text, how.room, how.most, (part) => ctx.measureText(part).width);
  lines.forEach((line, i) => {
    ctx.fillText(line, PAD, how.y + i * how.size * 1.3);
  });
  return how.y + lines.length * how.size * 1.3;
}

/** Lines no wider than the room; what does not fit into so many lines ends in an ellipsis. */
export function wrapped(
  text: string,
  room: number,
  most: number,
  measure: (text: string) => number,
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  const words = short(text, 1_000).split(/\s+/).filter(Boolean);
  for (const [i, word] of words.entries()) {
    const longer = line ? `${line} ${word}` : word;
    if (measure(longer) <= room) {
      line = longer;
      continue;
    }
    if (lines.length === most - 1)
      return [...lines, fitText([line, ...words.slice(i)].join(" ").trim(), room, measure)];
    if (line) lines.push(line);
    line = fitText(word, room, measure);
  }
  return line ? [...lines, line] : lines;
}

const MOST_LINES = 3;
const LEGEND_ROW = 20;
/** Of a name, in characters. */
const LONGEST_NAME = 44;
/** Room for "and 12 more". */
const MORE = 80;

/** Entries in rows, as many as three rows hold, and how many do not; gives the y below them. */
function legend(
  ctx: CanvasRenderingContext2D,
  items: readonly SheetLine[],
  theme: ChartTheme,
  top: number,
  width: number,
): number {
  ctx.font = `13px ${theme.font}`;
  let [x, row] = [PAD, 0];
  for (const [i, item] of withShortNames(items).entries()) {
    const text = isolated(item.label);
    const space = 34 + ctx.measureText(text).width + 18;
    const isLastRow = row === MOST_LINES - 1;
    const isFull = x > PAD && x + space > width - PAD - (isLastRow ? MORE : 0);
    if (isFull && isLastRow) {
      ctx.fillText(`and ${plural(items.length - i, "more", "more")}`, x, top + row * LEGEND_ROW);
      break;
    }
    if (isFull) [x, row] = [PAD, row + 1];
    const y = top + row * LEGEND_ROW;
    drawSample(ctx, item, x, y);
    ctx.fillStyle = theme.ink;
    ctx.fillText(text, x + 34, y);
    x += space;
  }
  return items.length > 0 ? top + row * LEGEND_ROW + 24 : top;
}

function withShortNames(items: readonly SheetLine[]): readonly SheetLine[] {
  const names = shortNames(
    items.map((item) => item.label),
    LONGEST_NAME,
  );
  return items.map((item, i) => ({ ...item, label: names[i] ?? item.label }));
}

function drawSample(
  ctx: CanvasRenderingContext2D,
  { colour, dash }: SheetLine,
  x: number,
  y: number,
): void {
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.lineWidth = 2.5;
  ctx.setLineDash([...dash]);
  ctx.beginPath();
  ctx.moveTo(x, y + 8);
  ctx.lineTo(x + 28, y + 8);
  ctx.stroke();
  ctx.restore();
}

const FOOT_LINE = 15;

interface Foot {
  readonly lines: readonly string[];
  readonly date: string;
  readonly dateWidth: number;
}

function footOf(
  ctx: CanvasRenderingContext2D,
  sheet: Sheet,
  theme: ChartTheme,
  width: number,
): Foot {
  ctx.font = `12px ${theme.font}`;
  const measure = (part: string): number => ctx.measureText(part).width;
  const date = ["Loadsheet", sheet.date].filter(Boolean).join(" · ");
  const dateWidth = measure(date);
  const lines = brokenLink(sheet.link, width - 2 * PAD - dateWidth - 24, measure);
  return { lines, date, dateWidth };
}

/** How much taller than usual the sheet is, so that its whole link has room. */
export function extraHeight(
  ctx: CanvasRenderingContext2D,
  sheet: Sheet,
  theme: ChartTheme,
  width: number,
): number {
  return Math.max(0, footOf(ctx, sheet, theme, width).lines.length - 1) * FOOT_LINE;
}

function footer(
  ctx: CanvasRenderingContext2D,
  sheet: Sheet,
  theme: ChartTheme,
  y: number,
  width: number,
): void {
  const { lines, date, dateWidth } = footOf(ctx, sheet, theme, width);
  ctx.fillStyle = theme.muted;
  lines.forEach((line, i) => {
    ctx.fillText(line, PAD, y + i * FOOT_LINE);
  });
  ctx.fillText(date, width - PAD - dateWidth, y);
}

/** An address is never cut: it goes on over as many lines as it takes, best after a separator. */
export function brokenLink(
  link: string,
  room: number,
  measure: (text: string) => number,
): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const piece of link.split(/(?<=[&?/])/)) {
    if (line && measure(line + piece) > room) {
      lines.push(line);
      line = "";
    }
    line += piece;
    while (measure(line) > room && line.length > 1) {
      const length = fittingLength(line, room, measure);
      lines.push(line.slice(0, length));
      line = line.slice(length);
    }
  }
  return line ? [...lines, line] : lines;
}

/** How many characters fit into the room, at least one and fewer than all. */
function fittingLength(text: string, room: number, measure: (text: string) => number): number {
  let length = text.length - 1;
  while (length > 1 && measure(text.slice(0, length)) > room) length -= 1;
  return length;
}
