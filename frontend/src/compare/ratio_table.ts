// Servers by workloads as ratios to the baseline: a real table, tinted, with each number in it.

import type { Figures } from "../api/figures";
import { type RatioCell, type RatioView, ratioView } from "../charts/ratios";
import { TINTS } from "../charts/style/theme";
import { button, h, tableOf } from "../site/dom";
import { nameElement } from "../site/names";
import { makeSortable } from "../site/sortable";

export function ratioTable(figures: Figures): HTMLElement {
  const view = ratioView(figures);
  if (!view) return h("p", { class: "empty" }, "There are no ratios.");
  const table = tableOf(
    { class: "ratios" },
    h("caption", { class: "visually-hidden" }, caption(view)),
    [heading("Server"), ...view.columns.map((column) => heading(column.label, column.at))],
    view.rows.map((row) => line(row.label, row.cells)),
  );
  makeSortable(table);
  const box = { class: "table-box", tabindex: 0, role: "region", "aria-label": "Table of ratios" };
  const means = view.means && h("p", { class: "hint" }, `${view.means}.`);
  const withheld = view.withheld.map((reason) =>
    h("p", { class: "hint" }, nameElement(reason, 240)),
  );
  return h("div", {}, h("div", box, table), key(view), ...withheld, means);
}

function caption({ metric, baseline, better }: RatioView): string {
  return `${metric} of each server on each workload as a ratio to ${baseline}, with its 95 % interval; ${better} is better.`;
}

function heading(text: string, at = ""): HTMLTableCellElement {
  return h(
    "th",
    { scope: "col" },
    button(
      { class: "sort", "data-sort": "descending" },
      () => {},
      nameElement(text, 32),
      at && h("span", { class: "unit" }, ` ${at}`),
    ),
  );
}

function line(label: string, cells: readonly RatioCell[]): HTMLTableRowElement {
  return h("tr", {}, h("th", { scope: "row" }, nameElement(label, 40)), ...cells.map(cell));
}

function cell(ratio: RatioCell): HTMLTableCellElement {
  return h(
    "td",
    {
      class: `ratio-cell ratio-${ratio.tint}`,
      title: ratio.note,
      "data-sort-value": ratio.value ?? "",
    },
    ratio.value === null
      ? h("span", { class: "ratio-none" }, ratio.text)
      : h("strong", {}, ratio.text),
    ratio.range && h("span", { class: "ratio-range" }, ratio.range),
    h("span", { class: "visually-hidden" }, `, ${ratio.note}`),
  );
}

const WORSE = TINTS.filter((tint) => tint.startsWith("worse"));
const BETTER = TINTS.filter((tint) => tint.startsWith("better"));

function key({ baseline }: RatioView): HTMLElement {
  return h(
    "p",
    { class: "ratio-key hint" },
    h("span", {}, "1× = ", nameElement(baseline, 40)),
    h("span", {}, "worse", ...WORSE.map(sample), ...BETTER.map(sample), "better"),
    h("span", {}, "in steps at 1.25× and 2×"),
    h("span", {}, sample("same"), "not distinguishable"),
  );
}

function sample(tint: string): HTMLElement {
  return h("i", { class: `ratio-sample ratio-${tint}`, "aria-hidden": "true" });
}
