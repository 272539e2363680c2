// The progress of the demo on the front page. The page is asked for again, and what changed takes the
// place of what stands here. The rest stays: somebody may be writing in the form.
import { pageAt } from "./dom";

const ASK_MS = 5_000;
// After its last trial the demo is published within a few seconds.
const ASKED_AFTERWARDS = 12;

const DEMO = "[data-demo]";
const COMPARISON = "[data-comparison]";

/** The link of the comparison; empty if there is none. */
function shownLink(page: ParentNode): string {
  return page.querySelector(COMPARISON)?.getAttribute("data-comparison") ?? "";
}

/** Takes progress and comparison from the newer page; returns the comparison where it is another. */
export function takeNewer(here: Document, newer: Document): Element | null {
  const demo = here.querySelector(DEMO);
  const newerDemo = newer.querySelector(DEMO);
  if (demo && newerDemo) demo.replaceWith(here.importNode(newerDemo, true));
  if (shownLink(newer) === shownLink(here)) return null;
  const comparison = newer.querySelector(COMPARISON);
  if (!comparison) return null;
  const placed = here.importNode(comparison, true);
  const before = here.querySelector(COMPARISON);
  if (before) before.replaceWith(placed);
  else demo?.after(placed);
  if (!newerDemo) demo?.remove();
  return placed;
}

/** Follows the demo until its comparison is there; `onComparison` gets the part of the page. */
export function followDemo(onComparison: (comparison: Element) => void): void {
  if (!document.querySelector(DEMO)) return;
  let left = ASKED_AFTERWARDS;
  const ask = async (): Promise<void> => {
    // While the service cannot be reached, the page keeps what was true.
    const newer = await pageAt(location.pathname).catch(() => null);
    const comparison = newer && takeNewer(document, newer);
    if (comparison) return onComparison(comparison);
    if (newer && !newer.querySelector(DEMO)) left -= 1;
    if (left > 0) later();
    else document.querySelector(DEMO)?.remove();
  };
  const later = (): void => {
    setTimeout(() => (document.hidden ? later() : void ask()), ASK_MS);
  };
  later();
}
