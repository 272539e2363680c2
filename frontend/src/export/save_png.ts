// PNG of exactly this view, drawn off-screen with all that a picture must carry with it.

import { drawnScene } from "../charts/drawn";
import type { Scene } from "../charts/scene";
import { readTheme } from "../charts/style/theme";
import { viewOf } from "../charts/views";
import { permalink } from "../query/query";
import { h } from "../site/dom";
import { utc } from "../text/format";
import { extraRows, paintView } from "./paint";
import { extraHeight, legendOf, paintSheet, sheetOf } from "./sheet";

const SIZE = { width: 1200, height: 750 } as const;
const PIXELS = 2;

export async function savePng(scene: Scene, host: HTMLElement, frozen: boolean): Promise<void> {
  const link = permalink(location, scene.figures.query, scene.query, frozen);
  const canvas = drawPng(scene, host, link);
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done));
  if (!blob) throw new Error("The browser could not make an image of the chart.");
  const url = URL.createObjectURL(blob);
  const day = momentOf(host).slice(0, 10);
  h("a", { href: url, download: `loadsheet-${viewOf(scene.query).id}-${day}.png` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** When the page's figures were frozen, or now: ISO 8601 in UTC. */
function momentOf({ dataset }: HTMLElement): string {
  return (dataset.frozenAt ? new Date(dataset.frozenAt) : new Date()).toISOString();
}

export function dateOf(host: HTMLElement): string {
  return `${host.dataset.frozenAt ? "frozen " : ""}${utc(momentOf(host))}`;
}

export function drawPng(scene: Scene, host: HTMLElement, link: string): HTMLCanvasElement {
  const { figures, query, metric, highlighted } = scene;
  const theme = readTheme(host);
  const { figures: drawn } = drawnScene(scene);
  const legend = viewOf(query).build === null ? [] : legendOf(drawn, highlighted, theme);
  const sheet = sheetOf(figures, query, metric, {
    name: host.dataset.title ?? "",
    lines: drawn.series.length,
    legend,
    link,
    date: dateOf(host),
  });
  const canvas = h("canvas", {});
  const measuring = contextOf(h("canvas", {}));
  const least = SIZE.height + extraHeight(measuring, sheet, theme, SIZE.width);
  const place = paintSheet(measuring, sheet, theme, SIZE.width, least);
  const height = least + extraRows(measuring, { figures, query, theme }, place);
  canvas.width = SIZE.width * PIXELS;
  canvas.height = height * PIXELS;
  const ctx = contextOf(canvas);
  ctx.scale(PIXELS, PIXELS);
  const rect = paintSheet(ctx, sheet, theme, SIZE.width, height);
  const makeCanvas = (w: number, inner: number): HTMLCanvasElement =>
    h("canvas", { width: w, height: inner });
  paintView(ctx, { ...scene, theme, pixels: PIXELS, makeCanvas }, rect);
  return canvas;
}

function contextOf(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("The browser does not support 2D canvas.");
  return ctx;
}
