// Series that have points at one place of the x axis stand side by side there, so that their dots
// and whiskers do not cover each other.
import type { Figures, Series } from "../../api/figures";

/** Whether all is measured at one place, such as one load. */
export const isSingle = ({ x }: Figures): boolean => x.values.length === 1;

/**
 * How far a series stands from the place, as a part of the room that the place has. `highlighted`:
 * the series in colour; a grey one has no dot.
 */
export function sideStep(
  figures: Figures,
  series: Series,
  highlighted: ReadonlySet<string>,
): number {
  const places = figures.series.flatMap((line) => line.points.map((point) => point.x));
  // One to a place stands on its tick.
  if (new Set(places).size === places.length) return 0;
  const ids = isSingle(figures)
    ? rankedIds(figures).filter((id) => highlighted.has(id))
    : figures.series.map((line) => line.id);
  const rank = ids.indexOf(series.id);
  return rank < 0 ? 0 : (rank - (ids.length - 1) / 2) * Math.min(0.14, 0.7 / ids.length);
}

/** At one place the series stand as they are ranked: their figures fall from left to right. */
function rankedIds({ series, ranking }: Figures): readonly string[] {
  const ids = series.map((line) => line.id);
  const ranked = (ranking?.rows ?? []).map((row) => row.series).filter((id) => ids.includes(id));
  return [...ranked, ...ids.filter((id) => !ranked.includes(id))];
}
