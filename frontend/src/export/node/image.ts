// One image, 1200 × 630: the sheet that a reader saves of a view, drawn on a Node canvas. It is
// taller where its link takes more than a line, or its table more rows.
import type { Canvas, createCanvas } from "@napi-rs/canvas";
import tokens from "../../../styles/tokens.css";
import { drawnScene } from "../../charts/drawn";
import { highlightedAtFirst } from "../../charts/highlighted";
import { viewOf } from "../../charts/views";
import { extraRows, paintView } from "../paint";
import { briefLegend, extraHeight, paintSheet, sheetOf } from "../sheet";
import type { ImageRequest } from "./request";
import { lightTheme } from "./theme";

export const WIDTH = 1200;
export const HEIGHT = 630;
// The sheet is made to be read; seen small, in a feed, its text must be larger.
const ZOOM = 1.4;

const theme = lightTheme(tokens, "Sheet");

export function drawImage(
  { figures, url, date, name }: ImageRequest,
  make: typeof createCanvas,
): Canvas {
  const { query, metric } = figures;
  const view = viewOf(query);
  const highlighted = highlightedAtFirst(figures, query);
  const drawn = drawnScene({ figures, query, metric, highlighted }).figures;
  const legend = briefLegend(drawn, view, highlighted, theme);
  const short = figures.panels != null;
  const lines = drawn.series.length;
  const sheet = sheetOf(figures, query, metric, { name, legend, lines, link: url, date, short });
  const width = WIDTH / ZOOM;
  const measuring = contextOf(make(1, 1));
  const least = HEIGHT / ZOOM + extraHeight(measuring, sheet, theme, width);
  const place = paintSheet(measuring, sheet, theme, width, least);
  const height = least + extraRows(measuring, { figures, query, theme }, place);
  const canvas = make(WIDTH, Math.ceil(height * ZOOM));
  const ctx = contextOf(canvas);
  ctx.scale(ZOOM, ZOOM);
  const rect = paintSheet(ctx, sheet, theme, width, canvas.height / ZOOM);
  const makeCanvas = (w: number, h: number): HTMLCanvasElement =>
    make(w, h) as unknown as HTMLCanvasElement;
  const style = { theme, highlighted, pixels: ZOOM, makeCanvas };
  paintView(ctx, { figures, query, metric, ...style }, rect);
  return canvas;
}

/** Skia's canvas has the drawing methods of a browser's canvas. */
function contextOf(canvas: Canvas): CanvasRenderingContext2D {
  return canvas.getContext("2d") as unknown as CanvasRenderingContext2D;
}
