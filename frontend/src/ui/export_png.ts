// PNG of exactly this view, drawn off-screen with all that a picture must carry with it.
import { colourOf, dashOf, slotsIn } from "../charts/identity";
import { paintCharts, paintText } from "../charts/paint";
import { type RatioView, ratioView, type Tint } from "../charts/ratios";
import { paintSheet, type Rect } from "../charts/sheet";
import { type ChartTheme, readColour, readTheme } from "../charts/theme";
import { viewTitle, whyEmpty } from "../charts/views";
import { viewOf } from "../state/query";
import { isolated, short, utc } from "../text/format";
import { h } from "./dom";
import type { Scene } from "./stage";

const SIZE = { width: 1200, height: 750 } as const;
const PIXELS = 2;

export async function savePng(scene: Scene, host: HTMLElement): Promise<void> {
  const blob = await new Promise<Blob | null>((done) => drawPng(scene, host).toBlob(done));
  if (!blob) throw new Error("The browser gave no image of the canvas.");
  const url = URL.createObjectURL(blob);
  const day = new Date().toISOString().slice(0, 10);
  h("a", { href: url, download: `loadsheet-${viewOf(scene.query)}-${day}.png` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

export function drawPng(scene: Scene, host: HTMLElement): HTMLCanvasElement {
  const { figures, query, metric } = scene;
  const view = viewOf(query);
  const theme = readTheme(host);
  const canvas = h("canvas", { width: SIZE.width * PIXELS, height: SIZE.height * PIXELS });
  const ctx = canvas.getContext("2d");
  if (!ctx) throw new Error("The browser offers no 2D canvas.");
  ctx.scale(PIXELS, PIXELS);
  const rect = paintSheet(
    ctx,
    {
      title: figures.finding,
      subtitle: viewTitle(figures, view, metric),
      conditions: figures.conditions,
      warning: figures.outcome.overridden
        ? "Overridden by a reader: these series were not measured under like conditions."
        : "",
      legend: view === "ratios" ? [] : lines(scene, theme),
      link: location.href.replace(/#.*$/, ""),
      date: utc(new Date().toISOString()),
    },
    theme,
    SIZE.width,
    SIZE.height,
  );
  const empty = whyEmpty(figures, view, metric);
  if (empty !== null) paintText(ctx, empty, rect, theme);
  else if (view === "ratios") paintRatios(ctx, ratioView(figures), rect, theme, host);
  else {
    const make = (width: number, height: number) => h("canvas", { width, height });
    paintCharts(ctx, { ...scene, theme, pixels: PIXELS, make }, view, rect);
  }
  return canvas;
}

function lines(
  { figures, emphasis }: Scene,
  theme: ChartTheme,
): { label: string; colour: string; dash: number[] }[] {
  const slots = slotsIn(figures);
  const seen = new Set<string>();
  return figures.series.flatMap((series) => {
    const slot = slots.get(series.id) ?? series.slot;
    const key = `${slot} ${series.label}`;
    if (!emphasis.has(series.id) || seen.has(key)) return [];
    seen.add(key);
    return [{ label: series.label, colour: colourOf(slot, theme), dash: dashOf(slot) }];
  });
}

const ROW = 34;

function paintRatios(
  ctx: CanvasRenderingContext2D,
  view: RatioView | null,
  rect: Rect,
  theme: ChartTheme,
  host: HTMLElement,
): void {
  if (!view) return;
  const first = 220;
  const width = (rect.width - first) / Math.max(view.columns.length, 1);
  const cut = (text: string, room: number): string =>
    isolated(short(text, Math.max(4, Math.floor(room / 7.5))));
  const cellText = (text: string, x: number, y: number): void => ctx.fillText(text, x + 8, y + 9);
  ctx.font = `600 13px ${theme.font}`;
  ctx.fillStyle = theme.muted;
  view.columns.forEach((column, i) => {
    cellText(cut(column, width), rect.x + first + i * width, rect.y);
  });
  const most = Math.floor(rect.height / ROW) - 1;
  view.rows.slice(0, most).forEach((row, r) => {
    const y = rect.y + (r + 1) * ROW;
    ctx.font = `13px ${theme.font}`;
    ctx.fillStyle = theme.ink;
    cellText(cut(row.label, first), rect.x, y);
    row.cells.forEach((cell, c) => {
      const x = rect.x + first + c * width;
      ctx.fillStyle = tint(cell.tint, host) ?? theme.surface;
      ctx.fillRect(x + 1, y + 1, width - 2, ROW - 2);
      ctx.fillStyle = theme.ink;
      cellText(`${cell.text} ${cell.range}`, x, y);
    });
  });
}

function tint(name: Tint, host: HTMLElement): string | null {
  return name === "none" ? null : readColour(`ratio-${name}`, host);
}
