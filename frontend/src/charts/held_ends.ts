// How far an axis goes beyond the figures, to hold the ends of their intervals.

/** An end is always held up to so many times the largest figure. */
const NEAR = 1.5;
/** No axis goes further than so many times the largest figure. */
const LONGEST = 3;
/** The share of the series whose ends are too few to stretch the axis. */
const FEW = 0.1;

/**
 * How many times the largest figure the axis holds. `ends` are, for each series, its ends as multiples
 * of that figure. Far ends of a single series, or of one series in ten, do not count: one noisy
 * series would flatten all others. Where most series are as noisy, the axis holds their ends.
 */
export function heldReach(ends: readonly (readonly number[])[]): number {
  const longest = ends.map((own) => Math.max(1, ...own)).sort((a, b) => b - a);
  const odd = longest.length > 1 ? Math.max(1, Math.floor(longest.length * FEW)) : 0;
  const most = Math.max(NEAR, Math.min(LONGEST, longest[odd] ?? 1));
  return Math.max(1, ...ends.flat().filter((end) => end <= most));
}
