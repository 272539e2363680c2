// Sorting for any table whose header cells hold a button[data-sort]; the order is announced
// with aria-sort. Cells sort by data-sort-value where it is set, else by their text, "1,200" as 1200.

import { columnOf, rowsOf } from "./dom";

type Direction = "ascending" | "descending";

function keyOf(row: HTMLTableRowElement, column: number): number | string | null {
  const cell = row.children[column];
  if (!(cell instanceof HTMLElement)) return null;
  const raw = cell.dataset.sortValue ?? cell.textContent?.trim() ?? "";
  if (raw === "") return null;
  const number = Number(raw.replace(/,(?=\d{3})/g, ""));
  return Number.isNaN(number) ? raw : number;
}

function compareKeys(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

/** Unknown values stay at the end in both directions: they are neither small nor large. */
function sortRows(table: HTMLTableElement, column: number, direction: Direction): void {
  const sign = direction === "ascending" ? 1 : -1;
  const rows = rowsOf(table).map((row) => ({ row, key: keyOf(row, column) }));
  rows.sort((a, b) => {
    if (a.key === null || b.key === null) return Number(a.key === null) - Number(b.key === null);
    return sign * compareKeys(a.key, b.key);
  });
  table.querySelector("tbody")?.append(...rows.map(({ row }) => row));
}

export function makeSortable(table: HTMLTableElement): void {
  const headers = [...table.querySelectorAll<HTMLTableCellElement>("thead th")];
  for (const header of headers) {
    const control = header.querySelector<HTMLButtonElement>("button[data-sort]");
    control?.addEventListener("click", () => sortBy(table, header, nextDirection(header, control)));
  }
}

/** The column's own first direction, then the other. */
function nextDirection(header: HTMLElement, { dataset }: HTMLElement): Direction {
  const first: Direction = dataset.sort === "descending" ? "descending" : "ascending";
  const other: Direction = first === "ascending" ? "descending" : "ascending";
  return header.getAttribute("aria-sort") === first ? other : first;
}

function sortBy(table: HTMLTableElement, header: HTMLElement, direction: Direction): void {
  for (const sorted of table.querySelectorAll("thead th")) sorted.removeAttribute("aria-sort");
  header.setAttribute("aria-sort", direction);
  sortRows(table, columnOf(header), direction);
}
