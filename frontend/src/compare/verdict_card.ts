// The card above the chart: the answer, its margin, the conditions, and how far to trust it.
import type { Figures } from "../api/figures";
import type { Told } from "../charts/headline";
import { h, slot } from "../site/dom";
import { nameElement } from "../site/names";
import { plural, short } from "../text/format";
import { evidenceOf, LEVELS, levelText, trustOf } from "../text/trust";

/** A longer sentence is set smaller, so that the chart stays on the screen. */
const LONG = 84;
/** At first sight; the tab of the checks has all. */
const MOST_REASONS = 3;

export function drawSentence(root: HTMLElement, { sentence, margin, aside }: Told): void {
  const title = slot(root, "finding");
  title.textContent = short(sentence, 320);
  title.title = title.textContent === sentence ? "" : sentence;
  title.classList.toggle("is-long", sentence.length > LONG);
  slot(root, "margin").replaceChildren(...(margin ? [nameElement(margin, 400)] : []));
  const place = slot(root, "aside");
  place.replaceChildren(...(aside ? [nameElement(aside, 400)] : []));
  place.hidden = !aside;
}

/** The chip and the reasons that it opens. `checks`: where all of them are listed. */
export function drawTrust(root: HTMLElement, figures: Figures, checks = "#checks"): void {
  const { mark, tone } = LEVELS[trustOf(figures).level];
  const chip = slot(root, "trust-level");
  chip.className = `trust-chip status-${tone}`;
  chip.replaceChildren(h("span", { "aria-hidden": "true" }, mark), ` ${levelText(figures)}`);
  slot(root, "trust-body").replaceChildren(...whyTrusted(figures, checks));
  slot(root, "trust").hidden = figures.series.length === 0;
}

function whyTrusted(figures: Figures, checks: string): readonly HTMLElement[] {
  const { outcome, replication } = figures;
  const items = trustOf(figures)
    .reasons.slice(0, MOST_REASONS)
    .map(({ text, remedy }) =>
      h(
        "li",
        {},
        h("strong", {}, nameElement(text, 300)),
        remedy && h("p", {}, short(remedy, 600)),
      ),
    );
  const alike = outcome.intent
    ? `The conditions are alike: ${outcome.intent}.`
    : "There is no reason to doubt this answer.";
  return [
    items.length > 0 ? h("ol", { class: "trust-reasons" }, ...items) : h("p", {}, alike),
    ...(replication ? [h("p", { class: "hint" }, replication)] : []),
    h("p", { class: "trust-more" }, ...moreEvidence(figures, checks)),
  ];
}

/** A link to all reasons and checks, counted as in their tab. */
function moreEvidence(figures: Figures, href: string): readonly (HTMLElement | string)[] {
  const { count, dismissed } = evidenceOf(figures);
  // A frame shows the page of the checks outside of it.
  const away = href.startsWith("#") ? {} : { target: "_blank", rel: "noopener" };
  const link = (text: string): HTMLElement => h("a", { href, ...away }, text);
  if (count > 0) return [link(count === 1 ? "See the check" : `All ${count} checks`)];
  const none = "No check fired.";
  return dismissed.length > 0
    ? [`${none} `, link(`${plural(dismissed.length, "check")} dismissed`)]
    : [none];
}
