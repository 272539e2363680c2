// Trials that differ tenfold or more: the value of their measure is a geometric mean that no trial
// is near, so the range of the trials is shown in its place.
import { RANGE_OF_UNLIKE } from "../api/constants";
import type { Measure } from "../api/figures";
import { inUnit, type Unit } from "../text/format";

/** The least and the largest of such trials, as the service says it; null for others. */
export function rangeOfUnlike({ low, high, interval }: Measure): readonly [number, number] | null {
  return interval === RANGE_OF_UNLIKE && low !== null && high !== null ? [low, high] : null;
}

/** "10.0 to 500" of trials that differ tenfold or more, else the value. */
export function valueText(measure: Measure, unit: Unit): string {
  const ends = rangeOfUnlike(measure);
  if (ends === null) return inUnit(measure.value, unit, measure.step);
  return ends.map((end) => inUnit(end, unit, measure.step)).join(" to ");
}
