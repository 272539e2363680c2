// Trials that are in no figure, listed below the ranking with their reasons.
import type { Figures } from "../api/figures";
import { h } from "../site/dom";
import { nameElement } from "../site/names";
import { loadPoint, short } from "../text/format";
import { runLink } from "./evidence_link";

const MOST_ROWS = 12;
const MOST_RUNS = 4;

/** ` Run 1a2b3c4d, 5e6f7a8b`: where to look. */
function runLinks(runs: readonly string[]): (Node | string)[] {
  const links = runs.slice(0, MOST_RUNS).flatMap((id, at) => [at > 0 ? ", " : "", runLink(id)]);
  const more = runs.length > MOST_RUNS ? ` and ${runs.length - MOST_RUNS} more` : "";
  return links.length > 0 ? [runs.length === 1 ? " Run " : " Runs ", ...links, more] : [];
}

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
      ...runLinks(row.runs ?? []),
    );
  });
  return [
    h("h2", {}, "Not read"),
    h("ul", { class: "reasons" }, ...items, more > 0 && h("li", {}, `and ${more} more`)),
  ];
}
