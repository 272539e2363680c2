// Which series are highlighted until the reader chooses: those that the view is most about.
import { type Figures, measureOf, metricOf, panelsOrWhole } from "../api/figures";
import { drawnFigures } from "./drawn";
import { type SeriesStyle, seriesStyles } from "./style/series_style";
import type { View } from "./view";
import { viewOf } from "./views";

/** More colours than these are hard to tell apart. */
const MOST_HIGHLIGHTED = 6;

/**
 * The series in colour until the reader chooses: those that the view is most about, but for those
 * that keep the limit nowhere. What is grey in the ranking is grey in the chart.
 */
export function highlightedAtFirst(figures: Figures, query: string): ReadonlySet<string> {
  const over = new Set(
    panelsOrWhole(figures).flatMap(({ ranking }) =>
      (ranking?.rows ?? []).filter((row) => row.over_limit).map((row) => row.series),
    ),
  );
  const keeps = ({ ids }: SeriesStyle): boolean => ids.some((id) => !over.has(id));
  const lines = highlightedLines(drawnFigures(figures, query), viewOf(query)).filter(keeps);
  return new Set(lines.flatMap(({ ids }) => ids));
}

/**
 * All lines of the legend up to six; beyond that, of each panel the first, then the second, and so
 * on. A line has one colour, or is grey, in all panels.
 */
function highlightedLines(figures: Figures, view: View): readonly SeriesStyle[] {
  const lines = seriesStyles(figures);
  if (lines.length <= MOST_HIGHLIGHTED) return lines;
  const lineOf = new Map(lines.flatMap((line) => line.ids.map((id) => [id, line] as const)));
  const leaders = panelsOrWhole(figures).map((panel) => leadersIn(panel, view));
  const places = Math.max(...leaders.map((ids) => ids.length));
  const inTurn = Array.from({ length: places }, (_, place) => leaders.map((ids) => ids[place]));
  const chosen = new Set(inTurn.flat().flatMap((id) => lineOf.get(id ?? "") ?? []));
  return [...chosen].slice(0, MOST_HIGHLIGHTED);
}

/** The series by their weight in the view, then by their rank, then by their best figure. */
function leadersIn(figures: Figures, view: View): readonly string[] {
  const shown = new Set(figures.series.map(({ id }) => id));
  const ranked = figures.ranking?.rows.map((row) => row.series) ?? [];
  const ids = [...new Set([...ranked.filter((id) => shown.has(id)), ...byBestFigure(figures)])];
  const weights = view.weights(figures);
  return ids.sort((a, b) => (weights.get(b) ?? 0) - (weights.get(a) ?? 0));
}

/** Where nothing is ranked: else names would decide which lines have a colour. */
function byBestFigure(figures: Figures): readonly string[] {
  const { metric, series } = figures;
  const sign = metricOf(figures, metric).better === "higher" ? 1 : -1;
  const best = new Map(
    series.map(({ id, points }) => {
      const values = points.map((point) => measureOf(point, metric)?.value ?? null);
      const measured = values.filter((value) => value !== null).map((value) => sign * value);
      return [id, Math.max(...measured)];
    }),
  );
  const bestOf = (id: string): number => best.get(id) ?? Number.NEGATIVE_INFINITY;
  const ids = series.map(({ id }) => id);
  return ids.sort((a, b) => Number(bestOf(a) < bestOf(b)) - Number(bestOf(a) > bestOf(b)));
}
