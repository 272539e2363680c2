// Which series are highlighted until the reader chooses: those that the view is most about.
import { type Figures, measureOf, metricOf, panelsOrWhole, type Series } from "../api/figures";
import type { View } from "./view";

/** More colours than these are hard to tell apart. */
const MOST_HIGHLIGHTED = 6;

/** The leaders of every panel in this view. */
export function highlightedIn(figures: Figures, view: View): ReadonlySet<string> {
  const leaders = panelsOrWhole(figures).flatMap((panel) => [
    ...defaultHighlights(panel.series, leadersIn(panel, view)),
  ]);
  return new Set(leaders);
}

/** All series up to six of them; beyond that the first six of the ranked ones. */
export function defaultHighlights(
  series: readonly Series[],
  ranked: readonly string[],
): ReadonlySet<string> {
  const ids = series.map(({ id }) => id);
  if (ids.length <= MOST_HIGHLIGHTED) return new Set(ids);
  const byRank = new Set([...ranked.filter((id) => ids.includes(id)), ...ids]);
  return new Set([...byRank].slice(0, MOST_HIGHLIGHTED));
}

/** The series by their weight in the view, then by their rank, then by their best figure. */
function leadersIn(figures: Figures, view: View): readonly string[] {
  const ranked = figures.ranking?.rows.map((row) => row.series) ?? [];
  const ids = [...new Set([...ranked, ...byBestFigure(figures)])];
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
