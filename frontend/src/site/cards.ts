// Lists that a phone shows as cards (styles/components/cards.css): each cell gets the name of its column.
import { columnOf, rowsOf } from "./dom";

/** Whether a cell has neither text nor a control. */
function isBlank(cell: Element): boolean {
  return !cell.textContent?.trim() && !cell.querySelector("input, button, a, select");
}

/** The name of a column without its unit: on a card, the unit stands behind the number. */
function nameOf(head: HTMLTableCellElement): string {
  const unit = head.querySelector(".unit")?.textContent ?? "";
  const name = (head.textContent ?? "").replace(unit, "");
  return name.replace(/\s+/g, " ").trim();
}

function nameColumn(table: HTMLTableElement, head: HTMLTableCellElement): void {
  const label = nameOf(head);
  const cells = rowsOf(table).map((row) => row.children[columnOf(head)]);
  for (const cell of cells) {
    if (!(cell instanceof HTMLTableCellElement) || cell.tagName !== "TD") continue;
    cell.dataset.label = label;
    cell.classList.toggle("is-blank", isBlank(cell));
  }
}

/** Names the cells of every `table.cards` in `root`. Call it once the heads have their units. */
export function nameCells(root: ParentNode): void {
  for (const table of root.querySelectorAll<HTMLTableElement>("table.cards")) {
    const heads = table.querySelectorAll<HTMLTableCellElement>("thead th");
    for (const head of heads) {
      if (!head.querySelector(".visually-hidden")) nameColumn(table, head);
    }
  }
}
