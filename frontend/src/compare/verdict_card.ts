// The card above the chart: the answer, its margin, the conditions, and how far to trust it.
import type { Figures, Trust } from "../api/figures";
import { h, slot } from "../site/dom";
import { nameElement } from "../site/names";
import { plural, short } from "../text/format";

/** What stands first: the answer of the service, or the summary of a view that it is not about. */
export interface Told {
  readonly sentence: string;
  readonly margin?: string | null;
}

/** A longer sentence is set smaller, so that the chart stays on the screen. */
const LONG = 84;

const LEVELS = {
  solid: { mark: "●", text: "Solid", tone: "ok" },
  care: { mark: "▲", text: "Use with care", tone: "warning" },
  noisy: { mark: "◆", text: "Too noisy", tone: "warning" },
  not_comparable: { mark: "■", text: "Not comparable", tone: "error" },
} as const;

export function drawSentence(root: HTMLElement, { sentence, margin }: Told): void {
  const title = slot(root, "finding");
  title.textContent = short(sentence, 320);
  title.title = title.textContent === sentence ? "" : sentence;
  title.classList.toggle("is-long", sentence.length > LONG);
  slot(root, "margin").replaceChildren(...(margin ? [nameElement(margin, 400)] : []));
}

export function drawTrust(root: HTMLElement, figures: Figures): void {
  const trust = figures.answer?.trust ?? trustOfOld(figures);
  const { mark, text, tone } = LEVELS[trust.level];
  const chip = slot(root, "trust-level");
  chip.className = `trust-chip status-${tone}`;
  const overridden = figures.outcome.overridden === true ? ", ranked by request" : "";
  chip.replaceChildren(h("span", { "aria-hidden": "true" }, mark), ` ${text}${overridden}`);
  slot(root, "trust-body").replaceChildren(...whyTrusted(figures, trust));
  slot(root, "trust").hidden = figures.series.length === 0;
}

function whyTrusted(figures: Figures, { reasons, more = 0 }: Trust): readonly HTMLElement[] {
  const { outcome, replication, checks } = figures;
  const items = reasons.map(({ text, remedy }) =>
    h("li", {}, h("strong", {}, nameElement(text, 300)), remedy && h("p", {}, short(remedy, 600))),
  );
  const alike = outcome.intent
    ? `The conditions are alike: ${outcome.intent}.`
    : "No reason speaks against this answer.";
  return [
    items.length > 0 ? h("ol", { class: "trust-reasons" }, ...items) : h("p", {}, alike),
    ...(replication ? [h("p", { class: "hint" }, replication)] : []),
    h(
      "p",
      { class: "trust-more" },
      more > 0 ? `${plural(more, "more reason")}. ` : "",
      checks.length > 0
        ? h(
            "a",
            { href: "#checks" },
            checks.length === 1 ? "See the check" : `All ${checks.length} checks`,
          )
        : "No check fired.",
    ),
  ];
}

/** Of figures that a version without answers froze: as far as their comparability tells. */
function trustOfOld({ outcome }: Figures): Trust {
  const level = { comparable: "solid", caveats: "care", not_comparable: "not_comparable" } as const;
  const reasons = outcome.reasons.slice(0, 3).map((text) => ({ text, remedy: "" }));
  return {
    level: level[outcome.status],
    reasons,
    more: outcome.reasons.length - reasons.length,
  };
}
