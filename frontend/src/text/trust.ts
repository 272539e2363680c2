// How far an answer holds, in words: the same on the page, in frames and in images.
import { SEVERITIES } from "../api/constants";
import type { Figures, FiredCheck, Trust } from "../api/figures";
import { comparabilityText } from "./comparability";
import { short } from "./format";

export const LEVELS = {
  solid: { mark: "●", text: "Solid", tone: "ok", status: "comparable" },
  care: { mark: "▲", text: "Use with care", tone: "warning", status: "caveats" },
  noisy: { mark: "◆", text: "Too noisy", tone: "warning", status: "caveats" },
  few_trials: { mark: "◇", text: "Too few trials", tone: "warning", status: "caveats" },
  not_comparable: {
    mark: "■",
    text: "Not comparable",
    tone: "error",
    status: "not_comparable",
  },
} as const;

type Reason = Trust["reasons"][number];

/** The trust of the answer; of figures that an older version froze, as their comparability tells. */
export function trustOf({ answer, outcome }: Figures): Trust {
  if (answer) return answer.trust;
  const level = { comparable: "solid", caveats: "care", not_comparable: "not_comparable" } as const;
  const reasons = outcome.reasons.map((text) => ({ text, remedy: "" }));
  return { level: level[outcome.status], reasons, more: 0 };
}

/** "Use with care": the level, and whether the reader asked for a ranking all the same. */
export function levelText(figures: Figures): string {
  const { text } = LEVELS[trustOf(figures).level];
  return figures.outcome.overridden === true ? `${text}, but ranked anyway` : text;
}

/** Reasons where there is no room for a list. */
const MOST_IN_LINE = 2;

/** "▲ Use with care: Client and server share one host. Few trials. And 1 more." */
export function trustText(figures: Figures): string {
  if (!figures.answer) return comparabilityText(figures);
  const { level, reasons, more = 0 } = trustOf(figures);
  const rest = reasons.length + more - MOST_IN_LINE;
  const texts = reasons.slice(0, MOST_IN_LINE).map(({ text }) => short(text, 200));
  const lead = `${LEVELS[level].mark} ${levelText(figures)}`;
  const line = [...texts, ...(rest > 0 ? [`And ${rest} more.`] : [])].join(" ");
  return line ? `${lead}: ${line}` : lead;
}

/** What speaks against an answer: each thing once. */
export interface Evidence {
  /** Conditions and checks in the order of the reasons, the most harmful first, then the rest. */
  readonly inOrder: readonly (Reason | FiredCheck)[];
  /** Reasons that no check stands behind: what differs, what is unknown, what noise hides. */
  readonly conditions: readonly Reason[];
  readonly dismissed: readonly FiredCheck[];
  /** Of the conditions and checks: the count of the chip and of the tab. */
  readonly count: number;
}

/** Whether a piece of evidence is a check that fired. */
export function isCheck(evidence: Reason | FiredCheck): evidence is FiredCheck {
  return "severity" in evidence;
}

function bySeverity(checks: readonly FiredCheck[]): readonly FiredCheck[] {
  return SEVERITIES.flatMap((severity) => checks.filter((check) => check.severity === severity));
}

export function evidenceOf(figures: Figures): Evidence {
  const isDismissed = ({ dismissed }: FiredCheck): boolean => (dismissed ?? []).length > 0;
  // Those that no member dismissed throughout.
  const checks = figures.checks.filter((check) => check.count > 0 || !isDismissed(check));
  // The reasons of an older version do not say which of them are checks.
  const reasons = figures.answer?.trust.reasons ?? [];
  const conditions = reasons.filter((reason) => (reason.check ?? null) === null);
  const byId = new Map(checks.map((check) => [check.id, check]));
  const shown = reasons.flatMap((reason) => {
    const check = reason.check == null ? reason : byId.get(reason.check);
    return check ? [check] : [];
  });
  return {
    inOrder: [...new Set([...shown, ...bySeverity(checks)])],
    conditions,
    dismissed: figures.checks.filter(isDismissed),
    count: conditions.length + checks.length,
  };
}
