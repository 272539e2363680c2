// Rows of series that are hidden in the charts: the ranking and the tables keep them, and say so.
import { h } from "../site/dom";

export function markHidden(root: HTMLElement, hidden: ReadonlySet<string>): void {
  for (const row of root.querySelectorAll<HTMLElement>(".rank, tr[data-series]")) {
    const isHidden = hidden.has(row.dataset.series ?? "");
    const mark = row.querySelector(".hidden-mark");
    row.classList.toggle("is-hidden", isHidden);
    if (isHidden && !mark) nameIn(row)?.append(h("span", { class: "tag hidden-mark" }, "hidden"));
    if (!isHidden) mark?.remove();
  }
}

function nameIn(row: HTMLElement): Element | null {
  return row.querySelector(".name, th");
}
