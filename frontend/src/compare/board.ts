// Boards of many series: the ranking can be searched, and its ticks choose the lines of the chart.
import type { Figures } from "../api/figures";
import { isBoard } from "../charts/drawn";
import { h, slot } from "../site/dom";
import { plural } from "../text/format";

export class Board {
  readonly #root: HTMLElement;
  readonly #choose: (series: string) => void;
  readonly #field = h("input", {
    type: "search",
    placeholder: "Search the ranking",
    "aria-label": "Search the ranking",
    "data-control": "rank-search",
    autocomplete: "off",
  });
  readonly #count = h("span", { class: "hint", role: "status" });

  /** `choose` draws a series, or leaves it out. */
  constructor(root: HTMLElement, choose: (series: string) => void) {
    this.#root = root;
    this.#choose = choose;
    this.#field.addEventListener("input", () => this.#filter());
    slot(root, "rank-search").replaceChildren(this.#field, this.#count);
  }

  /** After the ranking is drawn. */
  show(figures: Figures, highlighted: ReadonlySet<string>): void {
    const isOn = isBoard(figures);
    slot(this.#root, "rank-search").hidden = !isOn;
    slot(this.#root, "stage").classList.toggle("is-board", isOn);
    if (!isOn) return;
    // A series that is too many to be compared has no line, until it is the baseline.
    const drawable = new Set(figures.series.map(({ id }) => id));
    for (const row of this.#rows)
      if (drawable.has(row.dataset.series ?? "")) this.#tick(row, highlighted);
    this.#filter();
  }

  get #rows(): readonly HTMLElement[] {
    return [...slot(this.#root, "ranking").querySelectorAll<HTMLElement>(".rank")];
  }

  #tick(row: HTMLElement, highlighted: ReadonlySet<string>): void {
    const series = row.dataset.series ?? "";
    const item = row.parentElement;
    if (!item) return;
    const box = item.querySelector<HTMLInputElement>(".rank-tick") ?? this.#newTick(item, row);
    box.checked = highlighted.has(series);
  }

  #newTick(item: HTMLElement, row: HTMLElement): HTMLInputElement {
    const series = row.dataset.series ?? "";
    const name = row.querySelector(".name")?.textContent ?? "";
    const box = h("input", {
      type: "checkbox",
      class: "rank-tick",
      "aria-label": `Draw ${name}`,
      title: "In the chart",
      "data-control": `draw-${series}`,
    });
    box.addEventListener("change", () => this.#choose(series));
    item.prepend(box);
    return box;
  }

  /** A row stays where its name has every word of the search. */
  #filter(): void {
    const words = this.#field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = this.#rows;
    const drawn = rows.filter((row) => row.parentElement?.querySelector(":checked")).length;
    let shown = 0;
    for (const row of rows) {
      const name = row.querySelector(".name")?.textContent?.toLowerCase() ?? "";
      const isShown = words.every((word) => name.includes(word));
      if (row.parentElement) row.parentElement.hidden = !isShown;
      shown += Number(isShown);
    }
    const all = plural(rows.length, "series", "series");
    const part = words.length > 0 ? `${shown} of ${all}` : all;
    this.#count.textContent = `${part}, ${drawn} in the chart`;
  }
}
