// One image, 1200 × 630: the sheet that a reader saves of a view, drawn on a Node canvas.
import type { Canvas, createCanvas } from "@napi-rs/canvas";
import tokens from "../../styles/tokens.css";
import { emphasisOf } from "../charts/identity";
import { paintCharts, paintText } from "../charts/paint";
import { paintSheet } from "../charts/sheet";
import { type ChartView, viewTitle, whyEmpty } from "../charts/views";
import { viewOf } from "../state/query";
import type { Scene } from "./scene";
import { lightTheme } from "./theme";

export const WIDTH = 1200;
export const HEIGHT = 630;
// The sheet is made to be read; seen small, in a feed, its text must be larger.
const ZOOM = 1.4;

const theme = lightTheme(tokens, "Sheet");

export function draw(scene: Scene, make: typeof createCanvas): Canvas {
  const { figures } = scene;
  const canvas = make(WIDTH, HEIGHT);
  // Skia's canvas is a browser's but for what belongs to a page.
  const ctx = canvas.getContext("2d") as unknown as CanvasRenderingContext2D;
  ctx.scale(ZOOM, ZOOM);
  const view = drawable(figures.query);
  const rect = paintSheet(ctx, sheetOf(scene, view), theme, WIDTH / ZOOM, HEIGHT / ZOOM);
  const empty = figures.series.length === 0 ? "" : whyEmpty(figures, view, figures.metric);
  if (empty !== null) {
    paintText(ctx, empty, rect, theme);
    return canvas;
  }
  paintCharts(
    ctx,
    {
      figures,
      query: figures.query,
      metric: figures.metric,
      emphasis: emphasisOf(figures),
      theme,
      pixels: ZOOM,
      make: (width, height) => make(width, height) as unknown as HTMLCanvasElement,
    },
    view,
    rect,
  );
  return canvas;
}

/** The ratios are a table of the page, so that their image is the sweep they come from. */
function drawable(query: string): ChartView {
  const asked = viewOf(query);
  return asked === "ratios" ? "sweep" : asked;
}

function sheetOf(scene: Scene, view: ChartView): Parameters<typeof paintSheet>[1] {
  const { figures, url, date } = scene;
  return {
    title: figures.finding,
    subtitle: viewTitle(figures, view, figures.metric),
    conditions: figures.conditions,
    warning: warningOf(scene),
    // Lines are named at their ends.
    legend: [],
    link: url,
    date,
  };
}

function warningOf({ figures, overridden }: Scene): string {
  const { status, reasons } = figures.outcome;
  if (status !== "not_comparable") return "";
  const why = reasons[0] ? `: ${reasons[0]}` : "";
  return overridden ? `Ranked although not comparable${why}` : `Not comparable${why}`;
}
