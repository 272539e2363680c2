// What rows of the ranking and the tables show of the chart: that their series is hidden, or grey.
import { h } from "../site/dom";

const ROWS = ".rank, tr[data-series]";

/** Rows of series that are hidden in the charts stay, and say so. */
export function markHidden(root: HTMLElement, hidden: ReadonlySet<string>): void {
  for (const row of root.querySelectorAll<HTMLElement>(ROWS)) {
    const isHidden = hidden.has(row.dataset.series ?? "");
    const mark = row.querySelector(".hidden-mark");
    row.classList.toggle("is-hidden", isHidden);
    const name = row.querySelector(".name, th");
    if (isHidden && !mark) name?.append(h("span", { class: "tag hidden-mark" }, "hidden"));
    if (!isHidden) mark?.remove();
  }
}

/** Whatever shows the colour of a series shows grey where its line is grey in the chart. */
export function greyRows(root: HTMLElement, highlighted: ReadonlySet<string>): void {
  for (const row of root.querySelectorAll<HTMLElement>(`${ROWS}, li[data-series]`)) {
    row.classList.toggle("is-grey", !highlighted.has(row.dataset.series ?? ""));
  }
}
