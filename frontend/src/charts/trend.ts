// A metric over versions or dates: steps instead of slopes, with the changes that were found.
import type { Figures } from "../api/figures";
import { type RankedLoad, valueIn, valuesIn, withAxis, withValue } from "../query/query";
import { type SweepConfig, type SweepOptions, sweepChart } from "./sweep";
import type { TimeAxis } from "./view";

export function trendChart(figures: Figures, options: SweepOptions): SweepConfig {
  return sweepChart(figures, { ...options, trend: true });
}

/** Whether an axis can carry a trend. */
function isAxisOfTime(field: string | null): boolean {
  return field === "version" || field === "date";
}

export function whyNoTrend({ x, series }: Figures): string | null {
  const label = x.label.toLowerCase();
  if (!isAxisOfTime(x.field)) {
    return `A trend needs versions or dates on the axis. These figures are by ${label}.`;
  }
  const count = x.values.length;
  if (count >= 2) {
    // Over days, each version of a server may be a series: their points make one picture.
    const hasTrend = x.field === "date" || series.some(({ points }) => points.length > 1);
    return hasTrend || series.length === 0
      ? null
      : `A trend needs two or more ${label}s of a server; here each has one.`;
  }
  return `A trend needs two or more values of ${label}; there ${count === 1 ? "is one" : "are none"}.`;
}

/**
 * A trend needs an axis of versions or dates. The load that was ranked is kept as a filter: series
 * at different loads may not be compared.
 */
export function openTrend(
  query: string,
  load: RankedLoad | null,
  axis: TimeAxis = "version",
): string {
  if (isAxisOfTime(valueIn(query, "x"))) return query;
  const overTime = withAxis(query, axis);
  return load ? withValue(overTime, load.field, String(load.x)) : overTime;
}

/**
 * Along what the figures at hand may have a trend: versions, where a server has several, else the
 * days of the runs; null where there is one of each.
 */
export function trendAxis({ series, runs, x }: Figures): TimeAxis | null {
  if (isAxisOfTime(x.field)) return x.values.length > 1 ? (x.field as TimeAxis) : null;
  const versions = new Map<string, Set<string>>();
  for (const { server, version } of series) {
    if (version) versions.set(server, (versions.get(server) ?? new Set()).add(version));
  }
  if ([...versions.values()].some((own) => own.size > 1)) return "version";
  const days = new Set(runs.flatMap((run) => run.started_at?.slice(0, 10) ?? []));
  return days.size > 1 ? "date" : null;
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
