// Trials that are in no figure, listed below the ranking with their reasons.
import type { Figures } from "../api/figures";
import { h } from "../site/dom";
import { nameElement } from "../site/names";
import { loadPoint, short } from "../text/format";

const MOST_ROWS = 12;

/** Nothing where every trial was read. */
export function notReadList(figures: Figures): HTMLElement[] {
  const rows = figures.not_read ?? [];
  if (rows.length === 0) return [];
  const more = rows.length - MOST_ROWS;
  const items = rows.slice(0, MOST_ROWS).map((row) => {
    const place = row.x === null ? "" : ` at ${loadPoint(row.x, figures.x.label)}`;
    const trials = `${row.trials} ${row.trials === 1 ? "trial" : "trials"}`;
    return h(
      "li",
      {},
      nameElement(row.label, 80),
      `${place}, ${trials}: ${short(row.reason, 320)}`,
    );
  });
  return [
    h("h2", {}, "Not read"),
    h("ul", { class: "reasons" }, ...items, more > 0 && h("li", {}, `and ${more} more`)),
  ];
}
