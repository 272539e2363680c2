// A view painted onto any 2D context: on the sheet a reader saves, and on the image the service
// draws. Knows no DOM; `makeCanvas` gives the canvases to draw on.
import { type Figures, panelsOrWhole } from "../api/figures";
import { drawnScene } from "../charts/drawn";
import { LABEL_WIDTH } from "../charts/plugins/end_labels";
import { ratioView } from "../charts/ratios";
import { Chart } from "../charts/register";
import { chartOptions, type Scene } from "../charts/scene";
import { fitText } from "../charts/style/label_layout";
import type { ChartTheme } from "../charts/style/theme";
import type { Build, View } from "../charts/view";
import { viewOf } from "../charts/views";
import { isolated, short } from "../text/format";
import { paintRatios, ratiosHeight } from "./paint_ratios";
import type { Rect } from "./sheet";

export interface Painting extends Scene {
  readonly theme: ChartTheme;
  /** Pixels of the canvas to one of the sheet. */
  readonly pixels: number;
  readonly makeCanvas: (width: number, height: number) => HTMLCanvasElement;
}

/** The view that the query asks for, or why there is nothing to draw. */
export function paintView(ctx: CanvasRenderingContext2D, painting: Painting, rect: Rect): void {
  const drawn = { ...painting, ...drawnScene(painting) };
  const { figures, query, metric, theme } = drawn;
  const view = viewOf(query);
  const empty =
    figures.series.length === 0 ? "There is nothing to draw." : view.empty(figures, metric);
  if (empty !== null) paintText(ctx, empty, rect, theme);
  else if (view.build) paintCharts(ctx, drawn, { ...view, build: view.build }, rect);
  else paintRatioTable(ctx, painting, rect);
}

function paintRatioTable(ctx: CanvasRenderingContext2D, painting: Painting, rect: Rect): void {
  const ratios = ratioView(painting.figures);
  if (ratios) paintRatios(ctx, ratios, rect, painting.theme);
}

/** How much more height the view takes than its place has: a table has rows, a chart fits in. */
export function extraRows(
  ctx: CanvasRenderingContext2D,
  { figures, query, theme }: Pick<Painting, "figures" | "query" | "theme">,
  rect: Rect,
): number {
  const ratios = viewOf(query).build === null ? ratioView(figures) : null;
  return ratios ? Math.max(0, ratiosHeight(ctx, ratios, theme, rect.width) - rect.height) : 0;
}

/** One chart, or one for each panel side by side; a panel without values says why. */
function paintCharts(
  ctx: CanvasRenderingContext2D,
  painting: Painting,
  { build, empty }: Pick<View, "empty"> & { readonly build: Build },
  rect: Rect,
): void {
  const panels = panelsOrWhole(painting.figures);
  const columns = columnsFor(panels.length, rect);
  const rows = Math.ceil(panels.length / columns);
  const [width, height] = [rect.width / columns, rect.height / rows];
  panels.forEach((panel, i) => {
    const name = painting.figures.panels?.[i]?.value;
    const head = name === undefined ? 0 : 22;
    const x = rect.x + (i % columns) * width;
    const y = rect.y + Math.floor(i / columns) * height;
    if (name !== undefined)
      paintText(ctx, short(name, 60), { x: x + 6, y, width, height: head }, painting.theme);
    const place = { x, y: y + head, width: width - 8, height: height - head - 8 };
    const why = empty(panel, painting.metric);
    if (why !== null) {
      paintText(ctx, why, place, painting.theme);
      return;
    }
    const chart = offscreen(painting, panel, build, place.width, place.height);
    ctx.drawImage(chart, place.x, place.y, place.width, place.height);
  });
}

const BEST_SHAPE = 1.5;

/** As many columns as give panels a shape to read, and leave no holes. */
function columnsFor(count: number, { width, height }: Rect): number {
  const fault = (columns: number): number => {
    const rows = Math.ceil(count / columns);
    const shape = width / columns / (height / rows);
    return Math.abs(Math.log(shape / BEST_SHAPE)) + 2 * Math.log((columns * rows) / count);
  };
  const counts = Array.from({ length: count }, (_, i) => i + 1);
  return counts.reduce((best, columns) => (fault(columns) < fault(best) ? columns : best), 1);
}

const ROOMY = { width: 340, height: 200 } as const;

function offscreen(
  painting: Painting,
  panel: Figures,
  build: Build,
  width: number,
  height: number,
): HTMLCanvasElement {
  const { figures, theme, pixels, makeCanvas } = painting;
  const isSmall = width < ROOMY.width || height < ROOMY.height;
  const options = chartOptions(
    { ...painting, figures: panel },
    { theme, size: isSmall ? "small" : "main", labelWidth: figures.panels ? 0 : LABEL_WIDTH },
  );
  const config = build(panel, { ...options, scope: figures });
  const canvas = makeCanvas(width, height);
  const still = { ...config.options, responsive: false, devicePixelRatio: pixels, events: [] };
  // Its pixels stay on the canvas; the chart itself is not needed once it is drawn.
  const chart = new Chart(canvas, { ...config, options: still });
  const copy = makeCanvas(canvas.width, canvas.height);
  copy.getContext("2d")?.drawImage(canvas, 0, 0);
  chart.destroy();
  return copy;
}

function paintText(
  ctx: CanvasRenderingContext2D,
  text: string,
  rect: Rect,
  theme: ChartTheme,
): void {
  ctx.font = `600 13px ${theme.font}`;
  ctx.fillStyle = theme.ink;
  const shown = fitText(short(text, 180), rect.width - 12, (part) => ctx.measureText(part).width);
  ctx.fillText(isolated(shown), rect.x + 6, rect.y + 4);
}
