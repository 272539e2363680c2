// The numbers of a view that the table of figures does not hold, as a table of its own.
import type { Figures, Series } from "../api/figures";
import { seriesSlots } from "../charts/style/series_style";
import type { ViewColumn, ViewTable } from "../charts/view";
import { VIEWS } from "../charts/views";
import { h, tableOf } from "../site/dom";
import { nameElement } from "../site/names";
import { makeSortable } from "../site/sortable";
import { grouped } from "../text/format";
import { swatch } from "./swatch";
import { heading, LONGEST_PANEL, metricHeading, panelName, valueCell } from "./table_cells";

/** A table for each view that has numbers of its own. */
export function viewTables(figures: Figures): readonly HTMLTableElement[] {
  return VIEWS.flatMap((view) => {
    const table = view.table?.(figures);
    return table ? [tableElement(figures, table)] : [];
  });
}

function tableElement(figures: Figures, { caption, columns, rows }: ViewTable): HTMLTableElement {
  const slots = seriesSlots(figures);
  const series = new Map(figures.series.map((line) => [line.id, line]));
  const panel = panelName(figures);
  const nameCells = (id: string): (HTMLElement | false)[] => [
    h("th", { scope: "row" }, swatch(slots.get(id) ?? 0), nameElement(labelOf(series, id))),
    panel !== "" &&
      h("td", { class: "words" }, nameElement(series.get(id)?.facet ?? "", LONGEST_PANEL)),
  ];
  const headings = [
    heading("Series", "", "ascending"),
    panel && heading(panel, "", "ascending"),
    ...columns.map(columnHeading),
  ];
  const lines = rows.map((row) =>
    h(
      "tr",
      { "data-series": row.series },
      ...nameCells(row.series),
      ...row.values.map((value, i) => numberCell(value, columns[i])),
    ),
  );
  const table = tableOf({ class: "figures" }, h("caption", {}, caption), headings, lines);
  makeSortable(table);
  return table;
}

function labelOf(series: ReadonlyMap<string, Series>, id: string): string {
  return series.get(id)?.label ?? id;
}

function columnHeading({ label, unit, better }: ViewColumn): HTMLTableCellElement {
  return better === null
    ? heading(label, "number", "descending")
    : metricHeading(label, unit.header, better);
}

function numberCell(value: number | null, column: ViewColumn | undefined): HTMLTableCellElement {
  if (!column || column.kind === "count")
    return h("td", { class: "number" }, value === null ? "" : grouped(value));
  const { kind, unit } = column;
  return valueCell({ value, low: null, high: null }, { kind, unit, ranged: false });
}
