// What the numbers rest on: the outcome, the checks that fired, the runs.
import type { Check, Figures, RunLink } from "../api/figures";
import { plural, relative, utc } from "../text/format";
import { h } from "./dom";

const OUTCOME = {
  comparable: { mark: "●", text: "comparable", tone: "ok" },
  caveats: { mark: "▲", text: "comparable with caveats", tone: "warning" },
  not_comparable: { mark: "■", text: "not comparable", tone: "error" },
} as const;

/** A reader has ten seconds: the rest is in the ranking's list and among the checks. */
const SAID_AT_ONCE = 5;

export function outcome(figures: Figures): HTMLElement[] {
  const { status, reasons, differing } = figures.outcome;
  const said = OUTCOME[status];
  const count = status === "caveats" && reasons.length > 0 ? plural(reasons.length, "caveat") : "";
  const lead = count ? `comparable with ${count}` : said.text;
  const details = [
    ...reasons,
    ...(differing.length > 0 ? [`differing: ${differing.join(", ")}`] : []),
  ];
  const more = details.length - SAID_AT_ONCE;
  const why = details.slice(0, SAID_AT_ONCE).join("; ") + (more > 0 ? `; and ${more} more` : "");
  return [
    h(
      "span",
      { class: `status status-${said.tone}` },
      h("span", { "aria-hidden": "true" }, said.mark),
      ` ${lead}`,
    ),
    details.length > 0 ? h("span", { class: "outcome-why" }, `: ${why}`) : h("span"),
    figures.checks.length > 0
      ? h("a", { href: "#checks", class: "outcome-more" }, "details")
      : h("span"),
  ];
}

const SEVERITY = {
  error: { mark: "■", rank: 0 },
  warning: { mark: "▲", rank: 1 },
  info: { mark: "○", rank: 2 },
} as const;

export function checkList(checks: readonly Check[]): HTMLElement {
  if (checks.length === 0) {
    return h("p", { class: "empty" }, "No check fired on these trials.");
  }
  const sorted = [...checks].sort((a, b) => SEVERITY[a.severity].rank - SEVERITY[b.severity].rank);
  return h("ul", { class: "checks" }, ...sorted.map(checkItem));
}

function checkItem(check: Check): HTMLLIElement {
  return h(
    "li",
    { id: `check-${check.id}` },
    h(
      "p",
      { class: "check-head" },
      h(
        "span",
        { class: `status status-${check.severity}` },
        h("span", { "aria-hidden": "true" }, SEVERITY[check.severity].mark),
        ` ${check.severity}`,
      ),
      h("strong", {}, check.title),
      h(
        "span",
        { class: "hint" },
        plural(check.count, check.trials?.length === 0 ? "load point" : "trial"),
      ),
      h("code", {}, check.id),
    ),
    h("p", {}, check.explanation),
  );
}

export function runList(runs: readonly RunLink[]): HTMLElement {
  if (runs.length === 0) return h("p", { class: "empty" }, "No run matches these filters.");
  return h("ul", { class: "runs" }, ...runs.map(runItem));
}

function runItem(run: RunLink): HTMLLIElement {
  const started = run.started_at;
  return h(
    "li",
    {},
    h("a", { href: run.url }, h("code", {}, run.id.slice(0, 8))),
    started
      ? h("time", { datetime: started, title: relative(started) }, utc(started))
      : h("span", { class: "hint" }, "start unknown"),
    h("span", { class: "hint" }, plural(run.trials, "trial")),
  );
}
