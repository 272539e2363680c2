// The table of ratios painted on a canvas: as many rows and columns as fit, and how many do not.

import type { RatioCell, RatioView } from "../charts/ratios";
import { fitText } from "../charts/style/label_layout";
import type { ChartTheme } from "../charts/style/theme";
import { type Shade, TINTS } from "../charts/style/theme";
import { isolated, plural, short } from "../text/format";
import { type Rect, wrapped } from "./sheet";

const HEAD = 38;
const LINE = 18;
const SAMPLE = 16;
const TALL = 38;
const LOW = 24;
const LEAST_CELL = 96;
const MOST_CELL = 220;
const PAD = 10;

const WORSE = TINTS.filter((tint) => tint.startsWith("worse"));
const BETTER = TINTS.filter((tint) => tint.startsWith("better"));

interface Grid {
  readonly ctx: CanvasRenderingContext2D;
  readonly theme: ChartTheme;
  readonly rect: Rect;
  /** Widths of the names and of each cell. */
  readonly names: number;
  readonly cell: number;
  readonly row: number;
  readonly columns: number;
  readonly rows: number;
}

export function paintRatios(
  ctx: CanvasRenderingContext2D,
  view: RatioView,
  rect: Rect,
  theme: ChartTheme,
): void {
  ctx.save();
  ctx.textBaseline = "middle";
  const grid = gridOf(ctx, view, { ...rect, x: rect.x + 6, width: rect.width - 12 }, theme);
  heads(grid, view);
  view.rows.slice(0, grid.rows).forEach((row, i) => {
    line(grid, row, grid.rect.y + HEAD + i * grid.row);
  });
  foot(grid, view);
  ctx.restore();
}

function gridOf(
  ctx: CanvasRenderingContext2D,
  view: RatioView,
  rect: Rect,
  theme: ChartTheme,
): Grid {
  ctx.font = `13px ${theme.font}`;
  const widths = view.rows.map((row) => ctx.measureText(short(row.label)).width);
  const names = Math.min(Math.max(120, ...widths) + PAD, rect.width * 0.36);
  const room = rect.width - names;
  const columns = Math.min(view.columns.length, Math.max(1, Math.floor(room / LEAST_CELL)));
  const cell = Math.min(room / columns, MOST_CELL);
  const height = rect.height - HEAD - footHeight(ctx, view, theme, rect.width);
  const row = view.rows.length * TALL <= height ? TALL : LOW;
  const rows = Math.min(view.rows.length, Math.max(1, Math.floor(height / row)));
  return { ctx, theme, rect, names, cell, row, columns, rows };
}

/** With a line on what is left out, as it is not known yet whether anything is. */
function footHeight(
  ctx: CanvasRenderingContext2D,
  view: RatioView,
  theme: ChartTheme,
  width: number,
): number {
  const most = "99 more rows and 99 more columns at the link";
  return footLines(ctx, view, theme, width, most).length * LINE + 8;
}

const MOST_TALL = 24;

/** The height at which every row has room, up to so many. */
export function ratiosHeight(
  ctx: CanvasRenderingContext2D,
  view: RatioView,
  theme: ChartTheme,
  width: number,
): number {
  const rows = Math.min(view.rows.length, MOST_TALL) * TALL;
  return HEAD + rows + footHeight(ctx, view, theme, width - 12);
}

/** Text within a width, at most; names are cut, not what they stand beside. */
function write(grid: Grid, text: string, x: number, y: number, room: number): number {
  const { ctx } = grid;
  const measure = (part: string): number => ctx.measureText(part).width;
  const cut = fitText(short(text, 240), room, measure);
  ctx.fillText(isolated(cut), x, y);
  return measure(cut);
}

function heads(grid: Grid, view: RatioView): void {
  const { ctx, theme, rect } = grid;
  view.columns.slice(0, grid.columns).forEach(({ label, at }, i) => {
    const x = rect.x + grid.names + i * grid.cell + PAD;
    const room = grid.cell - 1.5 * PAD;
    ctx.fillStyle = theme.ink;
    ctx.font = `600 13px ${theme.font}`;
    write(grid, label, x, rect.y + (at ? 8 : 22), room);
    ctx.fillStyle = theme.muted;
    ctx.font = `12px ${theme.font}`;
    if (at) write(grid, at, x, rect.y + 25, room);
  });
  rule(grid, rect.y + HEAD - 1);
}

function rule({ ctx, theme, rect, names, cell, columns }: Grid, y: number): void {
  ctx.fillStyle = theme.grid;
  ctx.fillRect(rect.x, y, names + columns * cell, 1);
}

function line(grid: Grid, row: RatioView["rows"][number], y: number): void {
  const { ctx, theme, rect } = grid;
  ctx.fillStyle = theme.ink;
  ctx.font = `13px ${theme.font}`;
  write(grid, row.label, rect.x, y + grid.row / 2, grid.names - PAD);
  row.cells.slice(0, grid.columns).forEach((cell, i) => {
    ratio(grid, cell, rect.x + grid.names + i * grid.cell, y);
  });
  rule(grid, y + grid.row - 1);
}

function ratio(grid: Grid, cell: RatioCell, x: number, y: number): void {
  const { ctx, theme, row } = grid;
  if (cell.tint !== "none") {
    ctx.fillStyle = theme.tints[cell.tint];
    ctx.fillRect(x + 1, y, grid.cell - 1, row - 1);
  }
  const tall = row === TALL && cell.range !== "";
  const middle = y + row / 2;
  ctx.fillStyle = cell.value === null ? theme.muted : theme.ink;
  ctx.font = `${cell.value === null ? 400 : 600} 13px ${theme.font}`;
  ctx.fillText(cell.text, x + PAD, tall ? middle - 8 : middle);
  const taken = ctx.measureText(cell.text).width + 8;
  ctx.font = `12px ${theme.font}`;
  const beside = taken + ctx.measureText(cell.range).width + 1.5 * PAD <= grid.cell;
  if (tall) ctx.fillText(cell.range, x + PAD, middle + 9);
  else if (beside) ctx.fillText(cell.range, x + PAD + taken, middle);
}

/** A part of the key, kept together where the line breaks: its words and samples in order. */
type Piece = string | Shade;

/** What is 1×, what the colours mean, and what there was no room for. */
function foot(grid: Grid, view: RatioView): void {
  const { ctx, theme, rect } = grid;
  let y = rect.y + HEAD + grid.rows * grid.row + LINE / 2 + 4;
  for (const line of footLines(ctx, view, theme, rect.width, leftOut(grid, view))) {
    let x = rect.x;
    for (const piece of line.flat()) {
      ctx.fillStyle = isShade(piece) ? theme.tints[piece] : theme.muted;
      if (isShade(piece)) ctx.fillRect(x, y - 6, SAMPLE, 12);
      else write(grid, piece, x, y, rect.x + rect.width - x);
      x += widthOf(ctx, piece);
    }
    y += LINE;
  }
}

/** The key, then why ratios are withheld and what the means are over, on the lines they take. */
function footLines(
  ctx: CanvasRenderingContext2D,
  view: RatioView,
  theme: ChartTheme,
  width: number,
  left: string,
): readonly (readonly (readonly Piece[])[])[] {
  ctx.font = `12px ${theme.font}`;
  const key: readonly (readonly Piece[])[] = [
    ...(left ? [[left]] : []),
    [`1× = ${short(view.baseline)}`],
    ["worse", ...WORSE, ...BETTER, "better, in steps at 1.25× and 2×"],
    ["same", "not distinguishable"],
  ];
  const lines: (readonly Piece[])[][] = [[]];
  let room = width;
  for (const part of key) {
    const taken = part.reduce((sum, piece) => sum + widthOf(ctx, piece), 0);
    if (taken > room && room < width) {
      lines.push([]);
      room = width;
    }
    lines.at(-1)?.push(part);
    room -= taken;
  }
  const measure = (text: string): number => ctx.measureText(text).width;
  const sentences = [...view.withheld, view.means].flatMap((sentence) =>
    wrapped(sentence, width, 2, measure),
  );
  return [...lines, ...sentences.map((line) => [[line]])];
}

function isShade(piece: Piece): piece is Shade {
  return TINTS.some((tint) => tint === piece);
}

function widthOf(ctx: CanvasRenderingContext2D, piece: Piece): number {
  return isShade(piece) ? SAMPLE + 4 : ctx.measureText(piece).width + 14;
}

/** "2 more rows, 1 more column at the link": a picture must say that it is a part. */
function leftOut(grid: Grid, view: RatioView): string {
  const rows = view.rows.length - grid.rows;
  const columns = view.columns.length - grid.columns;
  const parts = [
    rows > 0 && plural(rows, "more row"),
    columns > 0 && plural(columns, "more column"),
  ].filter(Boolean);
  return parts.length > 0 ? `${parts.join(" and ")} at the link` : "";
}
