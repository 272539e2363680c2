// Whether series are comparable, in words: the same on every page and export.
import type { Figures, Outcome } from "../api/figures";
import { plural } from "./format";

const STATUS_TEXTS = {
  comparable: "● comparable",
  caveats: "▲ Use with care",
  not_comparable: "■ not comparable",
} as const;

/** The reasons for the status, worst first; then what the comparison is about. */
function detailsOf({ intent, reasons, confounded }: Outcome): readonly string[] {
  const together = confounded?.length ? [`these differ together: ${confounded.join(", ")}`] : [];
  return [...reasons, ...together, ...(intent ? [intent] : [])];
}

/** Snapshots made before schema version 2 have the override only in their query. */
function isOverridden({ outcome, query }: Figures): boolean {
  return outcome.overridden ?? new URLSearchParams(query).get("override") === "1";
}

/** Reasons shown where there is no room for a list. */
const MOST_IN_LINE = 3;

/** "▲ Use with care: 3 warnings – client and server on one host; few trials; and 1 more" */
export function comparabilityText(figures: Figures): string {
  const { status, reasons } = figures.outcome;
  const isRanked = status === "not_comparable" && isOverridden(figures);
  const lead = isRanked ? "■ ranked although not comparable" : STATUS_TEXTS[status];
  const details = detailsOf(figures.outcome);
  const more = details.length - MOST_IN_LINE;
  const shown = [...details.slice(0, MOST_IN_LINE), ...(more > 0 ? [`and ${more} more`] : [])];
  if (shown.length === 0) return lead;
  const isCounted = status === "caveats" && reasons.length > 0;
  const count = isCounted ? `${plural(reasons.length, "warning")} – ` : "";
  return `${lead}: ${count}${shown.join("; ")}`;
}

const TRUNCATED = "Only some of the matching series are shown. Add a filter to see the others.";

/** A sentence on the series that were left out; empty where all are shown. */
export function truncatedText({ truncated }: Figures): string {
  if (!truncated) return "";
  return typeof truncated === "string" ? truncated : TRUNCATED;
}
