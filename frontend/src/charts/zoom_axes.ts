// The kinds of x axes: where a part of each may begin and end, and the figures inside.
import { type Figures, isCategory, measureOf, type Point, type X } from "../api/figures";
import { grouped, loadPoint, percentile, single } from "../text/format";
import { PERCENTILE_TICKS, percentilePosition, shownCurves } from "./percentiles";
import { placeOf } from "./style/axes";
import type { ZoomAxis } from "./view";

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
  return `${grouped(Number(from))} to ${loadPoint(Number(to), figures.x.label)}`;
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
    const rates = figures.series
      .flatMap(({ points }) => points.map(rateOf))
      .filter((rate) => rate !== null);
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

function withPoints(figures: Figures, keeps: (point: Point) => boolean): Figures {
  const series = figures.series.map((line) => ({ ...line, points: line.points.filter(keeps) }));
  return { ...figures, series };
}
