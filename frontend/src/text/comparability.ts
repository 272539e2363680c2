// Whether series are comparable, in words: the same on every page and export.
import type { Figures, Outcome } from "../api/figures";
import { plural } from "./format";

export const COMPARABILITY = {
  comparable: { mark: "●", text: "comparable", tone: "ok" },
  caveats: { mark: "▲", text: "Use with care", tone: "warning" },
  not_comparable: { mark: "■", text: "not comparable", tone: "error" },
} as const;

/** The status with the number of its warnings, and what stands between it and the details. */
export function comparabilityLead({ status, reasons }: Outcome): {
  text: string;
  separator: string;
} {
  const { text } = COMPARABILITY[status];
  if (status !== "caveats" || reasons.length === 0) return { text, separator: ": " };
  return { text: `${text}: ${plural(reasons.length, "warning")}`, separator: " – " };
}

/** The reasons for the status, worst first; then what the comparison is about. */
export function comparabilityDetails(outcome: Outcome): readonly string[] {
  const { intent, reasons, confounded } = outcome;
  return [
    ...reasons,
    ...(confounded && confounded.length > 0
      ? [`these differ together: ${confounded.join(", ")}`]
      : []),
    ...(intent ? [intent] : []),
  ];
}

/** Snapshots made before schema version 2 have the override only in their query. */
function isOverridden({ outcome, query }: Figures): boolean {
  return outcome.overridden ?? new URLSearchParams(query).get("override") === "1";
}

/** Reasons shown where there is no room for a list. */
const MOST_IN_LINE = 3;

/** "▲ Use with care: 3 warnings – client and server on one host; few trials; and 1 more" */
export function comparabilityText(figures: Figures): string {
  const { status } = figures.outcome;
  const { mark } = COMPARABILITY[status];
  const { text, separator } = comparabilityLead(figures.outcome);
  const overridden = status === "not_comparable" && isOverridden(figures);
  const details = comparabilityDetails(figures.outcome);
  const more = details.length - MOST_IN_LINE;
  const shown = [...details.slice(0, MOST_IN_LINE), ...(more > 0 ? [`and ${more} more`] : [])];
  const lead = `${mark} ${overridden ? "ranked although not comparable" : text}`;
  return shown.length > 0 ? `${lead}${separator}${shown.join("; ")}` : lead;
}

const TRUNCATED = "Only some of the matching series are shown. Add a filter to see the others.";

/** A sentence on the series that were left out; empty where all are shown. */
export function truncatedText({ truncated }: Figures): string {
  if (!truncated) return "";
  return typeof truncated === "string" ? truncated : TRUNCATED;
}
