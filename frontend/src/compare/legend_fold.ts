// A legend that is higher than its place shows what fits, and a button that counts the others.
import { button } from "../site/dom";

/** The class of what does not fit, and of a legend that shows all. */
const FOLDED = "is-folded";
const OPEN = "is-open";

/**
 * Lines that a reader chose stay in sight: those taken out of the chart are folded first, then grey
 * ones, the last of each first.
 */
function inFoldingOrder(items: readonly HTMLElement[]): readonly HTMLElement[] {
  const rank = (item: HTMLElement): number => {
    if (item === document.activeElement) return 3;
    if (item.getAttribute("aria-pressed") === "false") return 0;
    return item.classList.contains("is-grey") ? 1 : 2;
  };
  return [...items].reverse().sort((a, b) => rank(a) - rank(b));
}

function isTooHigh(place: HTMLElement): boolean {
  return place.scrollHeight > place.clientHeight + 1;
}

/** Folds what does not fit, by the width and the look of now. */
export function foldLegend(place: HTMLElement): void {
  const items = [...place.querySelectorAll<HTMLElement>(".legend-item")];
  for (const item of items) item.classList.remove(FOLDED);
  const more = moreButton(place);
  const isOpen = place.classList.contains(OPEN);
  const hadFocus = document.activeElement === more;
  place.classList.remove(OPEN);
  more.hidden = true;
  const isFolding = isTooHigh(place);
  more.hidden = !isFolding;
  place.classList.toggle(OPEN, isOpen && isFolding);
  more.setAttribute("aria-expanded", String(isOpen));
  if (!isFolding) return;
  if (isOpen) more.textContent = "Show fewer";
  else foldItems(place, items, more);
  // It lost the focus while it was hidden for the measurement.
  if (hadFocus) more.focus({ preventScroll: true });
}

function foldItems(place: HTMLElement, items: readonly HTMLElement[], more: HTMLElement): void {
  for (const [i, item] of inFoldingOrder(items).slice(0, -1).entries()) {
    item.classList.add(FOLDED);
    more.textContent = `Show ${i + 1} more`;
    if (!isTooHigh(place)) return;
  }
}

function moreButton(place: HTMLElement): HTMLElement {
  const before = place.querySelector<HTMLElement>(".legend-more");
  if (before) return before;
  const more = button({ class: "link legend-more" }, () => {
    const firstHidden = place.querySelector<HTMLElement>(`.${FOLDED}`);
    place.classList.toggle(OPEN);
    foldLegend(place);
    // What was revealed stands before the button.
    firstHidden?.focus({ preventScroll: true });
  });
  place.append(more);
  return more;
}

const watched = new WeakSet<HTMLElement>();

/** Folds the legend again whenever its width changes. */
export function watchLegend(place: HTMLElement): void {
  if (watched.has(place)) return;
  watched.add(place);
  let width = place.clientWidth;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    foldLegend(place);
  }).observe(place);
}
