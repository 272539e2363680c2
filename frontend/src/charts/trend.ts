// A metric over versions or dates: steps instead of slopes, with the changes that were found.
import type { Figures } from "../api/figures";
import { type RankedLoad, valueIn, withAxis, withValue } from "../query/query";
import { type SweepConfig, type SweepOptions, sweepChart } from "./sweep";

export function trendChart(figures: Figures, options: SweepOptions): SweepConfig {
  return sweepChart(figures, { ...options, trend: true });
}

/** Whether an axis can carry a trend. */
function isAxisOfTime(field: string | null): boolean {
  return field === "version" || field === "date";
}

export function whyNoTrend({ x }: Figures): string | null {
  const label = x.label.toLowerCase();
  if (!isAxisOfTime(x.field)) {
    return `A trend needs versions or dates on the axis. These figures are by ${label}.`;
  }
  const count = x.values.length;
  if (count >= 2) return null;
  return `A trend needs two or more values of ${label}; there ${count === 1 ? "is one" : "are none"}.`;
}

/**
 * A trend needs an axis of versions or dates. The load that was ranked is kept as a filter: series
 * at different loads may not be compared.
 */
export function openTrend(query: string, load: RankedLoad | null): string {
  if (isAxisOfTime(valueIn(query, "x"))) return query;
  const byVersion = withAxis(query, "version");
  return load ? withValue(byVersion, load.field, String(load.x)) : byVersion;
}
