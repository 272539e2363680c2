// The legend is HTML: real buttons, reachable by keyboard, with their state announced.
import type { Figures } from "../api/figures";
import { seriesStyles } from "../charts/style/series_style";
import { button } from "../site/dom";
import { nameElement } from "../site/names";
import { swatch } from "./swatch";

export function legend(
  figures: Figures,
  highlighted: ReadonlySet<string>,
  toggle: (series: readonly string[], on: boolean) => void,
): HTMLElement[] {
  return seriesStyles(figures).map(({ slot, label, ids }) => {
    const item = button(
      {
        class: "legend-item",
        "aria-pressed": String(isHighlighted(ids, highlighted)),
        "data-series": ids[0] ?? "",
      },
      () => toggle(ids, item.getAttribute("aria-pressed") !== "true"),
      swatch(slot),
      nameElement(label, 48),
    );
    return item;
  });
}

/** The same buttons after other lines are highlighted: making them anew would lose the focus. */
export function updateLegend(
  place: HTMLElement,
  figures: Figures,
  highlighted: ReadonlySet<string>,
): void {
  const items = new Map(
    [...place.children].map((item) => [(item as HTMLElement).dataset.series, item]),
  );
  for (const { ids } of seriesStyles(figures)) {
    items.get(ids[0])?.setAttribute("aria-pressed", String(isHighlighted(ids, highlighted)));
  }
}

function isHighlighted(ids: readonly string[], highlighted: ReadonlySet<string>): boolean {
  return ids.some((id) => highlighted.has(id));
}
