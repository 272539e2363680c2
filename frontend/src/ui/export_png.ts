// PNG of exactly this view, drawn off-screen with all that a picture must carry with it.
import { type Figures, parts } from "../api/figures";
import { colourOf, dashOf, slotsIn } from "../charts/identity";
import { type RatioView, ratioView, type Tint } from "../charts/ratios";
import { Chart } from "../charts/register";
import { paintSheet, type Rect } from "../charts/sheet";
import { type ChartTheme, readColour, readTheme } from "../charts/theme";
import { viewChart, viewTitle, whyEmpty } from "../charts/views";
import { limitOf, logX, logY, type View, viewOf } from "../state/query";
import { isolated, short, utc } from "../text/format";
import { h } from "./dom";
import type { Scene } from "./stage";

const SIZE = { width: 1200, height: 750 } as const;
const PIXELS = 2;
const LABELS = 178;

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
  if (empty !== null) write(ctx, empty, rect, theme);
  else if (view === "ratios") paintRatios(ctx, ratioView(figures), rect, theme, host);
  else paintCharts(ctx, scene, view, rect, theme);
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

function paintCharts(
  ctx: CanvasRenderingContext2D,
  scene: Scene,
  view: Exclude<View, "ratios">,
  rect: Rect,
  theme: ChartTheme,
): void {
  const all = parts(scene.figures);
  const columns = all.length > 1 ? Math.ceil(Math.sqrt(all.length)) : 1;
  const rows = Math.ceil(all.length / columns);
  const [width, height] = [rect.width / columns, rect.height / rows];
  all.forEach((part, i) => {
    const titled = scene.figures.panels?.[i]?.value;
    const head = titled === undefined ? 0 : 22;
    const x = rect.x + (i % columns) * width;
    const y = rect.y + Math.floor(i / columns) * height;
    if (titled !== undefined)
      write(ctx, short(titled, 60), { x: x + 6, y, width, height: head }, theme);
    const drawn = offscreen(scene, part, view, theme, width - 8, height - head - 8);
    ctx.drawImage(drawn, x, y + head, width - 8, height - head - 8);
  });
}

function offscreen(
  { figures, query, metric, emphasis }: Scene,
  part: Figures,
  view: Exclude<View, "ratios">,
  theme: ChartTheme,
  width: number,
  height: number,
): HTMLCanvasElement {
  const config = viewChart(part, view, {
    metric,
    emphasis,
    theme,
    size: "main",
    logX: logX(query, figures.x.values),
    logY: logY(query),
    labelWidth: figures.panels ? 0 : LABELS,
    at: part.ranking?.x ?? null,
    limit: limitOf(query) ?? figures.capacity?.limit_us ?? null,
    scope: figures,
  });
  const canvas = h("canvas", { width, height });
  const still = { ...config.options, responsive: false, devicePixelRatio: PIXELS, events: [] };
  // Its pixels stay on the canvas; the chart itself is not needed once it is drawn.
  const chart = new Chart(canvas, { ...config, options: still });
  const copy = h("canvas", { width: canvas.width, height: canvas.height });
  copy.getContext("2d")?.drawImage(canvas, 0, 0);
  chart.destroy();
  return copy;
}

function write(ctx: CanvasRenderingContext2D, text: string, rect: Rect, theme: ChartTheme): void {
  ctx.font = `600 13px ${theme.font}`;
  ctx.fillStyle = theme.ink;
  ctx.fillText(isolated(short(text, 180)), rect.x + 6, rect.y + 4);
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
