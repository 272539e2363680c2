// Which series have no value of a metric, and why: an empty chart says nothing.
import {
  type Figures,
  fullLabel,
  type MetricId,
  measureOf,
  metricOf,
  type Series,
} from "../api/figures";
import { isolated, short } from "../text/format";

const NAMED_AT_ONCE = 3;

/** Why there is nothing to draw of a metric; null where some series has a value. */
export function whyNoValues(figures: Figures, metric: MetricId): string | null {
  const { series } = figures;
  if (series.length === 0 || series.some((line) => hasValue(line, metric))) return null;
  const { label } = metricOf(figures, metric);
  return `${label} is unknown for all ${series.length === 1 ? "trials" : "series"}: ${reasonOf(figures, series, metric)}`;
}

/** "Latency p99 is unknown for nginx 1.27: wrk does not print it." Empty where all have values. */
export function missingValuesText(figures: Figures, metric: MetricId): string {
  const missing = figures.series.filter((line) => !hasValue(line, metric));
  if (missing.length === 0) return "";
  const names = missing
    .slice(0, NAMED_AT_ONCE)
    .map((line) => isolated(short(fullLabel(figures, line))));
  const more = missing.length - NAMED_AT_ONCE;
  const listed = [...names, ...(more > 0 ? [`${more} more series`] : [])].join(", ");
  return `${metricOf(figures, metric).label} is unknown for ${listed}: ${reasonOf(figures, missing, metric)}`;
}

function hasValue(line: Series, metric: MetricId): boolean {
  return line.points.some((point) => measureOf(point, metric)?.value != null);
}

/** The name that the service gives to figures copied from a publication. */
const PUBLISHED = "published";

/** "the output of wrk does not have it." Of resources, only the agent knows something. */
function reasonOf(figures: Figures, missing: readonly Series[], metric: MetricId): string {
  if (metricOf(figures, metric).group === "resources")
    return "no agent measured it on the server host.";
  const tools = [...new Set(missing.map(({ tool }) => tool ?? "the load tool"))].sort();
  const sources = tools.map((tool) =>
    tool === PUBLISHED ? "the published table" : `the output of ${tool}`,
  );
  return `${sources.join(" and ")} ${sources.length > 1 ? "do" : "does"} not have it.`;
}
