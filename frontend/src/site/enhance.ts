// Server-rendered numbers get the same text as the charts: <data value data-format> and <time>.
import {
  behindNumber,
  exact,
  inUnit,
  type Kind,
  relative,
  single,
  UNKNOWN,
  type Unit,
  unitFor,
  utc,
} from "../text/format";
import { nameCells } from "./cards";
import { columnOf, rowsOf } from "./dom";

const KINDS: readonly Kind[] = ["rate", "time", "ratio", "count", "bytes"];

function kindOf(name: string | undefined): Kind | null {
  return KINDS.find((kind) => kind === name) ?? null;
}

function numberOf(element: HTMLDataElement): number | null {
  return element.value === "" ? null : Number(element.value);
}

/** The smallest step that the load tool prints, in µs: a latency below it is no measured zero. */
function stepOf(element: HTMLDataElement): number | null {
  return element.dataset.step ? Number(element.dataset.step) : null;
}

function write(element: HTMLDataElement, kind: Kind, unit: Unit | null): void {
  const value = numberOf(element);
  const step = stepOf(element);
  // Counts stay exact: they are evidence, and short enough.
  element.textContent =
    unit && kind !== "count" ? inUnit(value, unit, step) : single(kind, value, step);
  element.title = value === null ? "" : exact(kind, value);
  if (value === null) element.textContent = UNKNOWN;
  element.classList.toggle("unknown", value === null);
  // On a card, where the head of the column does not stand above the number.
  if (unit && kind !== "count" && value !== null) element.dataset.unit = behindNumber(kind, unit);
}

function cellsOf(table: HTMLTableElement, header: HTMLTableCellElement): HTMLDataElement[] {
  const column = columnOf(header);
  return rowsOf(table).flatMap((row) => {
    const cell = row.children[column]?.querySelector("data");
    return cell ? [cell] : [];
  });
}

/** Columns of one group, such as a figure of two runs, share their unit. */
function groupOf(table: HTMLTableElement, header: HTMLTableCellElement): HTMLTableCellElement[] {
  const { group } = header.dataset;
  if (!group) return [header];
  const headers = [...table.querySelectorAll<HTMLTableCellElement>("thead th[data-group]")];
  return headers.filter((other) => other.dataset.group === group);
}

/** A column shares one unit, chosen by its median and named once, in the header. */
function formatColumn(table: HTMLTableElement, header: HTMLTableCellElement): void {
  const kind = kindOf(header.dataset.format);
  if (!kind) return;
  const cells = cellsOf(table, header);
  const shared = groupOf(table, header).flatMap((other) => cellsOf(table, other));
  const sizes = shared.map((cell) => {
    const value = numberOf(cell);
    return value === null ? null : Math.max(value, stepOf(cell) ?? value);
  });
  const unit = unitFor(kind, sizes);
  for (const cell of cells) write(cell, kind, unit);
  const place = header.querySelector(".unit");
  // A column without a figure has no unit.
  const isKnown = sizes.some((size) => size !== null);
  if (place && kind !== "count") place.textContent = isKnown ? ` ${unit.header}` : "";
}

export function formatNumbers(root: ParentNode = document): void {
  const tables = root.querySelectorAll<HTMLTableElement>("table[data-columns]");
  for (const table of tables) {
    for (const header of table.querySelectorAll<HTMLTableCellElement>("thead th[data-format]")) {
      formatColumn(table, header);
    }
  }
  const inColumns = "table[data-columns] td > data";
  for (const element of root.querySelectorAll<HTMLDataElement>("data[data-format]")) {
    if (element.matches(inColumns)) continue;
    const kind = kindOf(element.dataset.format);
    if (kind) write(element, kind, null);
  }
  nameCells(root);
}

export function formatTimes(root: ParentNode = document): void {
  for (const element of root.querySelectorAll<HTMLTimeElement>("time[datetime]")) {
    element.textContent = utc(element.dateTime);
    element.title = relative(element.dateTime);
  }
}
