// Points so far above all others that an axis that holds them would flatten every other line.
import type { X } from "../api/figures";

export interface ValueAt {
  readonly series: string;
  readonly x: X;
  readonly y: number;
}

/** A point is cut off where it is more than so many times the largest value that stays. */
export const FAR = 5;
/** At most this share of the points is cut off, unless all of them are of one series. */
const MOST_SHARE = 0.1;
/** With fewer points, or fewer series, nothing says which of them is the odd one. */
const LEAST_POINTS = 6;
const LEAST_SERIES = 3;

/**
 * The largest value that an axis should hold; null where it should hold all. A point is cut off only
 * beside a point of another series at the same place that stays: latency that grows with the load in
 * every series is no outlier.
 */
export function cutAbove(points: readonly ValueAt[]): number | null {
  if (points.length < LEAST_POINTS || seriesOf(points).size < LEAST_SERIES) return null;
  const sorted = [...points].sort((a, b) => b.y - a.y);
  const count = sorted.findLastIndex((_, i) => isCut(sorted, i + 1)) + 1;
  return count > 0 ? (sorted[count]?.y ?? null) : null;
}

/** Whether the first `count` points stand apart from the others. */
function isCut(sorted: readonly ValueAt[], count: number): boolean {
  const [lowestCut, highestKept] = [sorted[count - 1]?.y ?? 0, sorted[count]?.y ?? 0];
  if (highestKept <= 0 || lowestCut <= FAR * highestKept) return false;
  const [cut, kept] = [sorted.slice(0, count), sorted.slice(count)];
  const isFew = count <= Math.max(1, sorted.length * MOST_SHARE) || seriesOf(cut).size === 1;
  return isFew && cut.every((point) => kept.some((other) => other.x === point.x));
}

function seriesOf(points: readonly ValueAt[]): ReadonlySet<string> {
  return new Set(points.map(({ series }) => series));
}
