// Whether series are comparable, in words: the same on every page and export.
import type { Figures, Outcome } from "../api/figures";

export const COMPARABILITY = {
  comparable: { mark: "●", text: "comparable", tone: "ok" },
  caveats: { mark: "▲", text: "comparable with caveats", tone: "warning" },
  not_comparable: { mark: "■", text: "not comparable", tone: "error" },
} as const;

/** The reasons for the status, worst first. */
export function comparabilityDetails(outcome: Outcome): readonly string[] {
  const { intent, reasons, confounded, differing } = outcome;
  return [
    ...(intent ? [intent] : []),
    ...(confounded && confounded.length > 0
      ? [`these differ together: ${confounded.join(", ")}`]
      : []),
    ...reasons,
    ...(differing.length > 0 && !intent ? [`differing: ${differing.join(", ")}`] : []),
  ];
}

/** Snapshots made before schema version 2 have the override only in their query. */
function isOverridden({ outcome, query }: Figures): boolean {
  return outcome.overridden ?? new URLSearchParams(query).get("override") === "1";
}

/** Reasons shown where there is no room for a list. */
const MOST_IN_LINE = 3;

/** "▲ comparable with caveats: client and server share one host; and 2 more" */
export function comparabilityText(figures: Figures): string {
  const { status } = figures.outcome;
  const { mark, text } = COMPARABILITY[status];
  const overridden = status === "not_comparable" && isOverridden(figures);
  const details = comparabilityDetails(figures.outcome);
  const more = details.length - MOST_IN_LINE;
  const shown = [...details.slice(0, MOST_IN_LINE), ...(more > 0 ? [`and ${more} more`] : [])];
  const lead = `${mark} ${overridden ? "ranked although not comparable" : text}`;
  return shown.length > 0 ? `${lead}: ${shown.join("; ")}` : lead;
}

const TRUNCATED = "Only some of the matching series are shown. Add a filter to see the others.";

/** A sentence on the series that were left out; empty where all are shown. */
export function truncatedText({ truncated }: Figures): string {
  if (!truncated) return "";
  return typeof truncated === "string" ? truncated : TRUNCATED;
}
