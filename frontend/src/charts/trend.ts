// A metric over versions or dates: steps instead of slopes, with the changes that were found.
import type { Figures } from "../api/figures";
import { type RankedLoad, valueIn, valuesIn, withAxis, withValue } from "../query/query";
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

/** The query without the axis of a trend: the load that it held is ranked on the axis of loads. */
export function leaveTrend(query: string): string {
  if (!isAxisOfTime(valueIn(query, "x"))) return query;
  for (const field of ["connections", "rate"]) {
    const [load, ...others] = valuesIn(query, field);
    if (load === undefined || others.length > 0) continue;
    return withValue(withAxis(withValue(query, field, null), field), "at", load);
  }
  return withAxis(query, "connections");
}
