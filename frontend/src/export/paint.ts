// A view painted onto any 2D context: on the sheet a reader saves, and on the image the service
// draws. Knows no DOM; `make` gives the canvases to draw on.
import { type Figures, type MetricId, parts } from "../api/figures";
import { ratioView } from "../charts/ratios";
import { Chart } from "../charts/register";
import type { ChartTheme } from "../charts/style/theme";
import { type ChartView, viewChart, whyEmpty } from "../charts/views";
import { limitOf, logX, logY, viewOf } from "../query/query";
import { isolated, short } from "../text/format";
import { paintRatios, ratiosHeight } from "./paint_ratios";
import type { Rect } from "./sheet";

export interface Painting {
  readonly figures: Figures;
  readonly query: string;
  readonly metric: MetricId;
  readonly emphasis: ReadonlySet<string>;
  readonly theme: ChartTheme;
  /** Pixels of the canvas to one of the sheet. */
  readonly pixels: number;
  readonly make: (width: number, height: number) => HTMLCanvasElement;
}

const LABELS = 178;

/** The view that the query asks for, or why there is nothing to draw. */
export function paintView(ctx: CanvasRenderingContext2D, painting: Painting, rect: Rect): void {
  const { figures, query, metric, theme } = painting;
  const view = viewOf(query);
  const empty =
    figures.series.length === 0 ? "There is nothing to draw." : whyEmpty(figures, view, metric);
  const ratios = view === "ratios" ? ratioView(figures) : null;
  if (empty !== null) paintText(ctx, empty, rect, theme);
  else if (view !== "ratios") paintCharts(ctx, painting, view, rect);
  else if (ratios) paintRatios(ctx, ratios, rect, theme);
}

/** How much more height the view takes than its place has: a table has rows, a chart fits in. */
export function extraRows(
  ctx: CanvasRenderingContext2D,
  { figures, query, theme }: Pick<Painting, "figures" | "query" | "theme">,
  rect: Rect,
): number {
  const ratios = viewOf(query) === "ratios" ? ratioView(figures) : null;
  return ratios ? Math.max(0, ratiosHeight(ctx, ratios, theme, rect.width) - rect.height) : 0;
}

/** One chart, or one for each panel side by side. */
function paintCharts(
  ctx: CanvasRenderingContext2D,
  painting: Painting,
  view: ChartView,
  rect: Rect,
): void {
  const all = parts(painting.figures);
  const columns = columnsFor(all.length, rect);
  const rows = Math.ceil(all.length / columns);
  const [width, height] = [rect.width / columns, rect.height / rows];
  all.forEach((part, i) => {
    const titled = painting.figures.panels?.[i]?.value;
    const head = titled === undefined ? 0 : 22;
    const x = rect.x + (i % columns) * width;
    const y = rect.y + Math.floor(i / columns) * height;
    if (titled !== undefined)
      paintText(ctx, short(titled, 60), { x: x + 6, y, width, height: head }, painting.theme);
    const drawn = offscreen(painting, part, view, width - 8, height - head - 8);
    ctx.drawImage(drawn, x, y + head, width - 8, height - head - 8);
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
  const all = Array.from({ length: count }, (_, i) => i + 1);
  return all.reduce((best, one) => (fault(one) < fault(best) ? one : best), 1);
}

const ROOMY = { width: 340, height: 200 } as const;

function offscreen(
  { figures, query, metric, emphasis, theme, pixels, make }: Painting,
  part: Figures,
  view: ChartView,
  width: number,
  height: number,
): HTMLCanvasElement {
  const config = viewChart(part, view, {
    metric,
    emphasis,
    theme,
    size: width < ROOMY.width || height < ROOMY.height ? "small" : "main",
    logX: logX(query, figures.x.values),
    logY: logY(query),
    labelWidth: figures.panels ? 0 : LABELS,
    at: part.ranking?.x ?? null,
    limit: limitOf(query) ?? figures.capacity?.limit_us ?? null,
    scope: figures,
  });
  const canvas = make(width, height);
  const still = { ...config.options, responsive: false, devicePixelRatio: pixels, events: [] };
  // Its pixels stay on the canvas; the chart itself is not needed once it is drawn.
  const chart = new Chart(canvas, { ...config, options: still });
  const copy = make(canvas.width, canvas.height);
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
  ctx.fillText(isolated(short(text, 180)), rect.x + 6, rect.y + 4);
}
