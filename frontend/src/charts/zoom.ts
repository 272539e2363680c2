// A part of the x axis: where it may begin and end on each kind of axis, and the figures inside.
import { type Figures, isCategory, measureOf, type Point, type X } from "../api/figures";
import { valueIn, valuesIn, withValue, withValues } from "../query/query";
import { loadPoint, percentile, single } from "../text/format";
import { PERCENTILE_TICKS, percentilePosition, shownCurves } from "./percentiles";
import { placeOf } from "./style/axes";
import type { Place, View, ZoomAxis } from "./view";

/** The axis of the figures: loads, versions, dates, names. */
export const overPlaces: ZoomAxis = {
  at: (figures, text) => (isCategory(figures) ? placeOf(figures)(text) : Number(text)),
  places: (figures) => {
    const place = placeOf(figures);
    return figures.x.values.map((x) => ({ text: String(x), at: place(x) }));
  },
  crop: (figures, low, high) => {
    const place = placeOf(figures);
    const isInside = (x: X): boolean => place(x) >= low && place(x) <= high;
    const values = figures.x.values.filter(isInside);
    const { capacity, changes } = figures;
    return {
      ...withPoints(figures, (point) => isInside(point.x)),
      x: { ...figures.x, values },
      ...(capacity && {
        capacity: {
          ...capacity,
          rows: capacity.rows.filter(({ x }) => x !== null && isInside(x)),
        },
      }),
      // A change at the first place is a step from outside.
      ...(changes && { changes: changes.filter(({ x }) => isInside(x) && x !== values[0]) }),
    };
  },
  name: (figures, from, to) => rangeName(figures, from.text, to.text),
};

function rangeName(figures: Figures, from: string, to: string): string {
  if (isCategory(figures)) return `${figures.x.label.toLowerCase()} ${from} to ${to}`;
  return `${from} to ${loadPoint(Number(to), figures.x.label)}`;
}

/** The axis of percentile curves. */
export const overPercentiles: ZoomAxis = {
  at: (_, text) => percentilePosition(Number(text)),
  places: (figures) => {
    const percents = shownCurves(figures).flatMap(({ points }) => points.map(([at]) => at));
    const most = Math.max(0, ...percents.filter((percent) => percent < 100));
    return [0, ...PERCENTILE_TICKS]
      .filter((percent) => percent <= most)
      .map((percent) => ({ text: String(percent), at: percentilePosition(percent) }));
  },
  crop: (figures, low, high) => {
    if (!figures.curves) return figures;
    const isInside = ([percent]: readonly [number, number]): boolean => {
      const at = percentilePosition(percent);
      return at >= low - TINY && at <= high + TINY;
    };
    const series = figures.curves.series.map((curve) => ({
      ...curve,
      points: curve.points.filter(isInside),
    }));
    return { ...figures, curves: { ...figures.curves, series } };
  },
  name: (_, from, to) => `${percentile(Number(from.text))} to ${percentile(Number(to.text))}`,
};

const TINY = 1e-9;

/** The axis of achieved throughput: whole requests per second in a link. */
export const overRates: ZoomAxis = {
  at: (_, text) => Number(text),
  places: (figures) => {
    const rates = figures.series.flatMap(({ points }) => points.map(rateOf)).filter(isNumber);
    return [...new Set(rates.map(Math.round))]
      .sort((a, b) => a - b)
      .map((at) => ({ text: String(at), at }));
  },
  crop: (figures, low, high) =>
    withPoints(figures, (point) => {
      const rate = Math.round(rateOf(point) ?? Number.NaN);
      return rate >= low && rate <= high;
    }),
  name: (_, from, to) => `${single("rate", from.at)} to ${single("rate", to.at)}`,
};

function rateOf(point: Point): number | null {
  return measureOf(point, "throughput")?.value ?? null;
}

function isNumber(value: number | null): value is number {
  return value !== null;
}

function withPoints(figures: Figures, keeps: (point: Point) => boolean): Figures {
  const series = figures.series.map((line) => ({ ...line, points: line.points.filter(keeps) }));
  return { ...figures, series };
}

export interface Zoom {
  readonly from: Place;
  readonly to: Place;
}

/** The part of the axis that the query shows; null where it shows all, or names no part of it. */
export function zoomIn(figures: Figures, query: string, view: View): Zoom | null {
  const axis = view.zoom;
  const ends = valuesIn(query, "zoom").map((text) => axis?.at(figures, text) ?? Number.NaN);
  if (!axis || ends.length === 0 || ends.some(Number.isNaN)) return null;
  return covered(axis.places(figures), Math.min(...ends), Math.max(...ends));
}

/** From the first to the last place between two values of the axis. */
function covered(places: readonly Place[], low: number, high: number): Zoom | null {
  const inside = places.filter(({ at }) => at >= low - TINY && at <= high + TINY);
  const [from, to] = [inside[0], inside.at(-1)];
  return from && to && inside.length < places.length ? { from, to } : null;
}

/**
 * The query that shows the places between two values of the axis; null where there is none between
 * them. A range of days is a filter: the service answers for these days alone.
 */
export function zoomTo(
  figures: Figures,
  query: string,
  view: View,
  [low, high]: readonly [number, number],
): string | null {
  const zoom = view.zoom && covered(view.zoom.places(figures), low, high);
  if (!zoom) return null;
  const [from, to] = [zoom.from.text, zoom.to.text];
  if (isByDay(figures, view)) {
    return withValue(withValue(withValue(query, "zoom", null), "since", from), "until", to);
  }
  return withValues(query, "zoom", [from, to]);
}

/** The query that shows the whole axis; null where it is shown already. */
export function zoomOut(figures: Figures, query: string, view: View): string | null {
  const isFiltered = valueIn(query, "since") !== null || valueIn(query, "until") !== null;
  const byDay = isByDay(figures, view) && isFiltered;
  if (!byDay && valueIn(query, "zoom") === null) return null;
  const keys = byDay ? ["zoom", "since", "until"] : ["zoom"];
  return keys.reduce((next, key) => withValue(next, key, null), query);
}

function isByDay({ x }: Figures, view: View): boolean {
  return x.field === "date" && view.zoom === overPlaces;
}

/** The query with half of the places around `at`, but at least two; null where there are no more. */
export function zoomCloser(figures: Figures, query: string, view: View, at: number): string | null {
  const places = placesShown(figures, query, view);
  const count = Math.max(2, Math.ceil(places.length / 2));
  if (count >= places.length) return null;
  const nearest = places.reduce(
    (best, { at: value }, i) =>
      Math.abs(value - at) < Math.abs((places[best]?.at ?? 0) - at) ? i : best,
    0,
  );
  const first = Math.min(Math.max(nearest - Math.floor(count / 2), 0), places.length - count);
  return between(figures, query, view, places[first], places[first + count - 1]);
}

/** The query with twice the places; the whole axis where these are all. */
export function zoomWider(figures: Figures, query: string, view: View): string | null {
  const all = view.zoom?.places(figures) ?? [];
  const shown = placesShown(figures, query, view);
  const first = all.findIndex(({ text }) => text === shown[0]?.text);
  const more = Math.ceil(shown.length / 2);
  const [from, to] = [Math.max(first - more, 0), first + shown.length - 1 + more];
  if (from === 0 && to >= all.length - 1) return zoomOut(figures, query, view);
  return between(figures, query, view, all[from], all[Math.min(to, all.length - 1)]);
}

function placesShown(figures: Figures, query: string, view: View): readonly Place[] {
  const all = view.zoom?.places(figures) ?? [];
  const zoom = zoomIn(figures, query, view);
  return zoom ? all.filter(({ at }) => at >= zoom.from.at && at <= zoom.to.at) : all;
}

function between(
  figures: Figures,
  query: string,
  view: View,
  from: Place | undefined,
  to: Place | undefined,
): string | null {
  return from && to ? zoomTo(figures, query, view, [from.at, to.at]) : null;
}
