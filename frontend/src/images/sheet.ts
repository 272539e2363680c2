// One image, 1200 × 630: the finding as title, its conditions, the chart, and where it is from.
import type { Canvas, createCanvas, SKRSContext2D } from "@napi-rs/canvas";
import tokens from "../../styles/tokens.css";
import type { MetricId } from "../api/figures";
import { metricOf } from "../api/figures";
import { defaultEmphasis } from "../charts/identity";
import { fitted } from "../charts/labels";
import { Chart } from "../charts/register";
import { pictured } from "../charts/views";
import type { Scene } from "./scene";
import { lightTheme } from "./theme";

export const WIDTH = 1200;
export const HEIGHT = 630;
const MARGIN = 48;
const ROOM = WIDTH - 2 * MARGIN;
// The charts are made for a page; seen small, in a feed, their text must be larger.
const ZOOM = 1.5;
const LABEL_WIDTH = 178;
const FOOT = HEIGHT - 30;

const theme = lightTheme(tokens, "Sheet");

type MakeCanvas = typeof createCanvas;

export function draw(scene: Scene, make: MakeCanvas): Canvas {
  const canvas = make(WIDTH, HEIGHT);
  const ctx = canvas.getContext("2d");
  ctx.fillStyle = theme.surface;
  ctx.fillRect(0, 0, WIDTH, HEIGHT);
  const below = head(ctx, scene);
  const top = below + 14;
  const room = FOOT - 34 - top;
  if (scene.figures.series.length > 0) ctx.drawImage(chart(scene, make, room), MARGIN, top);
  foot(ctx, scene);
  return canvas;
}

/** Writes title, conditions and marks; the y below them. */
function head(ctx: SKRSContext2D, scene: Scene): number {
  let y = MARGIN + 18;
  for (const line of lines(ctx, scene.figures.finding, "34px Sheet Bold", 2)) {
    write(ctx, line, y, theme.ink, "34px Sheet Bold");
    y += 44;
  }
  y -= 8;
  for (const line of lines(ctx, scene.figures.conditions, "20px Sheet", 2)) {
    write(ctx, line, y, theme.muted, "20px Sheet");
    y += 28;
  }
  const mark = markOf(scene);
  if (!mark) return y - 16;
  write(ctx, shortened(ctx, mark, "20px Sheet Bold"), y, theme.danger, "20px Sheet Bold");
  return y + 12;
}

function markOf(scene: Scene): string {
  const { status, reasons } = scene.figures.outcome;
  if (status !== "not_comparable") return "";
  const why = reasons[0] ? `: ${reasons[0]}` : "";
  return scene.overridden ? `Ranked although not comparable${why}` : `Not comparable${why}`;
}

function chart(scene: Scene, make: MakeCanvas, height: number): Canvas {
  const { figures } = scene;
  const metric: MetricId = figures.metric;
  const title = metricOf(figures, metric);
  const canvas = make(ROOM / ZOOM, (height - 28) / ZOOM);
  const ranked = figures.ranking?.rows.map((row) => row.series) ?? [];
  const config = pictured(figures, figures.query, {
    metric,
    emphasis: defaultEmphasis(figures.series, ranked),
    theme,
    labelWidth: LABEL_WIDTH,
  });
  // No page to follow and nothing to move: it is drawn once, at the size that is given.
  Object.assign(config.options ?? {}, { responsive: false, devicePixelRatio: ZOOM, events: [] });
  new Chart(canvas as unknown as HTMLCanvasElement, config);
  return titled(canvas, `${title.label}, ${title.better} is better`, make, height);
}

function titled(drawn: Canvas, title: string, make: MakeCanvas, height: number): Canvas {
  const canvas = make(ROOM, height);
  const ctx = canvas.getContext("2d");
  write(ctx, title, 10, theme.ink, "18px Sheet", 0);
  ctx.drawImage(drawn, 0, 28);
  return canvas;
}

function foot(ctx: SKRSContext2D, scene: Scene): void {
  ctx.fillStyle = theme.grid;
  ctx.fillRect(MARGIN, FOOT - 24, ROOM, 1);
  const font = "18px Sheet";
  ctx.font = font;
  const date = scene.date;
  const room = ROOM - ctx.measureText(date).width - 32;
  write(ctx, shortened(ctx, scene.url, font, room), FOOT, theme.muted, font);
  write(ctx, date, FOOT, theme.muted, font, WIDTH - MARGIN - ctx.measureText(date).width);
}

function write(
  ctx: SKRSContext2D,
  text: string,
  y: number,
  colour: string,
  font: string,
  x = MARGIN,
): void {
  ctx.font = font;
  ctx.fillStyle = colour;
  ctx.textBaseline = "middle";
  ctx.fillText(text, x, y);
}

function shortened(ctx: SKRSContext2D, text: string, font: string, room = ROOM): string {
  ctx.font = font;
  return fitted(text, room, (part) => ctx.measureText(part).width);
}

/** `text` broken between words into at most `most` lines; the last one says that more follows. */
function lines(ctx: SKRSContext2D, text: string, font: string, most: number): string[] {
  ctx.font = font;
  const made: string[] = [];
  let rest = text.split(/\s+/).filter(Boolean);
  while (rest.length > 0 && made.length < most) {
    if (made.length === most - 1) return [...made, shortened(ctx, rest.join(" "), font)];
    let taken = 1;
    while (taken < rest.length && width(ctx, rest.slice(0, taken + 1)) <= ROOM) taken += 1;
    made.push(shortened(ctx, rest.slice(0, taken).join(" "), font));
    rest = rest.slice(taken);
  }
  return made;
}

function width(ctx: SKRSContext2D, words: readonly string[]): number {
  return ctx.measureText(words.join(" ")).width;
}
