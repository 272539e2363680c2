// Trials that differ tenfold or more: the value of their measure is a geometric mean that no trial
// is near, so the range of the trials is shown in its place.
import { UNLIKE } from "../api/constants";
import type { Measure } from "../api/figures";
import { inUnit, type Unit } from "../text/format";

/** The least and the largest of such trials; null for others, and where the interval is narrower. */
export function rangeOfUnlike({ low, high, each }: Measure): readonly [number, number] | null {
  const trials = (each ?? []).filter((trial): trial is number => trial !== null);
  const [least, most] = [Math.min(...trials), Math.max(...trials)];
  if (!(least > 0) || most < UNLIKE * least) return null;
  const isNarrower = low !== null && high !== null && high * least < most * low;
  return isNarrower ? null : [least, most];
}

/** "10.0 to 500" of trials that differ tenfold or more, else the value. */
export function valueText(measure: Measure, unit: Unit): string {
  const ends = rangeOfUnlike(measure);
  if (ends === null) return inUnit(measure.value, unit, measure.step);
  return ends.map((end) => inUnit(end, unit, measure.step)).join(" to ");
}
