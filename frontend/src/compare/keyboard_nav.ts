// Arrow keys through the points of the main chart; each point is spoken in a live region.
import { type Figures, fullLabel, type MetricId } from "../api/figures";
import type { Stop, View } from "../charts/view";
import { isolated, short } from "../text/format";

/** A point by its place in the list of series and by its place in that series. */
export interface Position {
  readonly series: number;
  readonly point: number;
}

export interface SeriesStops {
  readonly series: string;
  readonly label: string;
  readonly stops: readonly Stop[];
}

/** The series that have points in the view, each with the sentences of its points. */
export function seriesStops(
  figures: Figures,
  view: View,
  metric: MetricId,
): readonly SeriesStops[] {
  return figures.series
    .map((series, index) => ({
      series: series.id,
      label: isolated(short(fullLabel(figures, series))),
      stops: view.stops(figures, index, metric),
    }))
    .filter(({ stops }) => stops.length > 0);
}

/** Up and down go round the series, left and right along the points; the first key starts. */
export function nextPosition(
  stops: readonly SeriesStops[],
  from: Position | null,
  key: string,
): Position | null {
  const count = stops.length;
  if (count === 0) return null;
  if (!from) return { series: 0, point: 0 };
  const down = { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0;
  const right = { ArrowLeft: -1, ArrowRight: 1 }[key] ?? 0;
  const series = (from.series + down + count) % count;
  const last = Math.max((stops[series]?.stops.length ?? 1) - 1, 0);
  return { series, point: Math.min(Math.max(from.point + right, 0), last) };
}

export function positionText(stops: readonly SeriesStops[], position: Position): string {
  const series = stops[position.series];
  const stop = series?.stops[position.point];
  return series && stop ? `${series.label} ${stop.text}` : "";
}
