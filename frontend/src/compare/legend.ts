// The legend is HTML: real buttons, reachable by keyboard, with their state announced.
import type { Figures } from "../api/figures";
import { type SeriesStyle, seriesStyles } from "../charts/style/series_style";
import { button } from "../site/dom";
import { nameElement } from "../site/names";
import { shortNames } from "../text/names";
import { foldLegend, watchLegend } from "./legend_fold";
import type { SeriesChoice } from "./series_choice";
import { swatch } from "./swatch";

/** Of a name, in characters. */
const LONGEST = 48;

export interface LegendActions {
  /** A press on a line of the legend; `alone` to show its series without the others. */
  readonly press: (series: readonly string[], alone: boolean) => void;
  readonly showAll: () => void;
}

/**
 * Fills the legend, or presses its buttons again where the lines are the same: they keep the focus
 * and their places.
 */
export function showLegend(
  place: HTMLElement,
  figures: Figures,
  choice: SeriesChoice,
  actions: LegendActions,
): void {
  const key = JSON.stringify(seriesStyles(figures));
  if (place.dataset.lines !== key) {
    place.replaceChildren(...legend(figures, actions, choice));
  }
  place.dataset.lines = key;
  updateLegend(place, figures, choice);
}

/**
 * One button for each line of the legend, and one that shows all series again. Grey lines come last: a
 * phone has no names at the ends of the others. A hidden line keeps its place.
 */
export function legend(
  figures: Figures,
  { press, showAll }: LegendActions,
  choice: SeriesChoice = { hidden: new Set(), highlighted: new Set() },
): HTMLElement[] {
  const isGrey = ({ ids }: SeriesStyle): number => Number(lineState(ids, choice) === "grey");
  const styles = [...seriesStyles(figures)].sort((a, b) => isGrey(a) - isGrey(b));
  const names = shortNames(
    styles.map(({ label }) => label),
    LONGEST,
  );
  const items = styles.map(({ slot, label, ids }, i) => {
    const item = button(
      { class: "legend-item", "data-series": ids[0] ?? "" },
      (event) => {
        onSecondClick(() => press(ids, true));
        press(ids, event.altKey);
      },
      swatch(slot),
      nameElement(label, LONGEST, names[i]),
    );
    // Browsers press no button by Alt and Enter.
    item.addEventListener("keydown", (event) => {
      if (event.altKey && event.key === "Enter") press(ids, true);
    });
    return item;
  });
  return [...items, button({ class: "link legend-all", hidden: true }, showAll, "Show all series")];
}

/**
 * A double click first hides a line and then shows it alone. The legend may move when a line is
 * hidden: the second click counts wherever it lands.
 */
function onSecondClick(act: () => void): void {
  const hear = (event: MouseEvent): void => {
    if (event.detail !== 2) return;
    event.stopPropagation();
    act();
  };
  addEventListener("click", hear, { capture: true, once: true });
}

/** The state of the buttons. */
export function updateLegend(place: HTMLElement, figures: Figures, choice: SeriesChoice): void {
  const items = new Map(
    [...place.querySelectorAll<HTMLElement>(".legend-item")].map((item) => [
      item.dataset.series,
      item,
    ]),
  );
  for (const { ids } of seriesStyles(figures)) {
    const item = items.get(ids[0]);
    if (item) setState(item, lineState(ids, choice));
  }
  const all = place.querySelector<HTMLElement>(".legend-all");
  if (all) all.hidden = choice.hidden.size === 0;
  foldLegend(place);
  watchLegend(place);
}

type LineState = "coloured" | "grey" | "hidden";

function lineState(ids: readonly string[], { hidden, highlighted }: SeriesChoice): LineState {
  if (ids.every((id) => hidden.has(id))) return "hidden";
  return ids.some((id) => highlighted.has(id)) ? "coloured" : "grey";
}

/** What a press does to a line in each state. */
const PRESS = { coloured: "Hide", grey: "Show in colour", hidden: "Show" } as const;

function setState(item: HTMLElement, state: LineState): void {
  item.setAttribute("aria-pressed", String(state !== "hidden"));
  item.classList.toggle("is-grey", state === "grey");
  item.title = `${PRESS[state]}. Double-click or Alt-click: show alone.`;
}
