// What the charts show of the figures: without hidden series, and of the axis only the zoom.
import { everyValue, type Figures, type MetricId, metricOf, panelsOrWhole } from "../api/figures";
import { hiddenIn, logY, valuesIn } from "../query/query";
import { plural } from "../text/format";
import type { Scene } from "./scene";
import { keepStyles } from "./style/series_style";
import { viewOf } from "./views";
import { zoomIn, zoomName } from "./zoom";

const MOST_LINES = 12;

/** Why nothing is drawn of a scene; null where something is. */
export function whyNotDrawn({ figures, query, metric, whole = figures }: Scene): string | null {
  const view = viewOf(query);
  const why = view.empty(figures, metric);
  if (why !== null || !view.isByMetric) return why;
  if (isOnePoint(whole)) {
    return "One series at one load: there is no line to draw. Add more loads, or another server.";
  }
  return logY(query) ? whyNoLogarithm(figures, metric) : null;
}

/** Whether there is a single figure: its chart would be a dot. */
export function isOnePoint({ series }: Figures): boolean {
  return series.length === 1 && series[0]?.points.length === 1;
}

function whyNoLogarithm(figures: Figures, metric: MetricId): string | null {
  const values = everyValue(figures, metric).filter((value) => value !== null);
  const { label, group } = metricOf(figures, metric);
  if (group === "errors" || values.some((value) => value > 0)) return null;
  return `${label} is 0 throughout, which a logarithmic axis cannot show. Turn off Log y.`;
}

/** Whether many series are ranked: then the ranking comes first, and the chart has the chosen ones. */
export function isBoard(figures: Figures): boolean {
  return panelsOrWhole(figures).some(({ ranking }) => (ranking?.rows.length ?? 0) > MOST_LINES);
}

/** The scene as it is drawn; `whole` keeps the figures that the page lists. */
export function drawnScene(scene: Scene): Scene {
  const { figures: whole, query, highlighted } = scene;
  const drawn = drawnFigures(whole, query);
  return { ...scene, figures: isBoard(whole) ? chosenOf(drawn, highlighted) : drawn, whole };
}

/** The chosen series of a board; all where none of them is shown. */
export function chosenOf(figures: Figures, highlighted: ReadonlySet<string>): Figures {
  const series = figures.series.filter(({ id }) => highlighted.has(id));
  if (series.length === 0) return figures;
  const drawn = { ...figures, series };
  keepStyles(figures, drawn);
  return drawn;
}

const kept = new WeakMap<Figures, { readonly key: string; readonly drawn: Figures }>();

/** The same figures for the same query: what is computed of them is kept by their identity. */
export function drawnFigures(figures: Figures, query: string): Figures {
  const key = JSON.stringify([viewOf(query).id, [...hiddenIn(query)], valuesIn(query, "zoom")]);
  const before = kept.get(figures);
  if (before?.key === key) return before.drawn;
  const drawn = zoomed(withoutHidden(figures, query), query);
  if (drawn !== figures) keepStyles(figures, drawn);
  kept.set(figures, { key, drawn });
  return drawn;
}

/** "8 to 256 connections, 2 series hidden": which part is drawn; empty where all is. */
export function partText(figures: Figures, query: string): string {
  const hidden = figures.series.length - withoutHidden(figures, query).series.length;
  const texts = [
    zoomName({ figures, query }),
    hidden > 0 && `${plural(hidden, "series", "series")} hidden`,
  ];
  return texts.filter(Boolean).join(", ");
}

/** All series where the link hides every one: an empty chart would say nothing. */
function withoutHidden(figures: Figures, query: string): Figures {
  const hidden = hiddenIn(query);
  const series = figures.series.filter(({ id }) => !hidden.has(id));
  const isPart = series.length > 0 && series.length < figures.series.length;
  return isPart ? { ...figures, series } : figures;
}

function zoomed(figures: Figures, query: string): Figures {
  const { zoom: axis } = viewOf(query);
  const zoom = zoomIn({ figures, query });
  return zoom && axis ? axis.crop(figures, zoom.from.at, zoom.to.at) : figures;
}
