// What the charts show of the figures: without hidden series, and of the axis only the zoom.
import type { Figures } from "../api/figures";
import { hiddenIn, valuesIn } from "../query/query";
import { plural } from "../text/format";
import type { Scene } from "./scene";
import { keepStyles } from "./style/series_style";
import { viewOf } from "./views";
import { zoomIn, zoomName } from "./zoom";

/** The scene as it is drawn; `whole` keeps the figures that the page lists. */
export function drawnScene(scene: Scene): Scene {
  return { ...scene, figures: drawnFigures(scene.figures, scene.query), whole: scene.figures };
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
