// The chart's numbers as a real table: one row per cell, one unit per column.
import {
  everyValue,
  type Figures,
  intervalText,
  type Measure,
  type Metric,
  measureOf,
  type Point,
  type Series,
} from "../api/figures";
import { slotsOf } from "../charts/identity";
import {
  exact,
  halfWidth,
  interval,
  inUnit,
  type Kind,
  kindOf,
  type Unit,
  unitFor,
} from "../text/format";
import { button, h } from "./dom";
import { makeSortable } from "./sortable";
import { swatch } from "./swatch";

interface Column {
  readonly metric: Metric;
  readonly kind: Kind;
  readonly unit: Unit;
}

export function figuresTable(figures: Figures): HTMLTableElement {
  const columns = figures.metrics.map((metric) => column(figures, metric));
  const slots = slotsOf(figures.series);
  const body = h("tbody");
  for (const series of figures.series) {
    for (const point of series.points) {
      body.append(row(series, point, columns, slots.get(series.id) ?? series.slot));
    }
  }
  const table = h(
    "table",
    { class: "figures" },
    h("caption", { class: "visually-hidden" }, caption(figures)),
    h("thead", {}, head(figures, columns)),
    body,
  );
  makeSortable(table);
  return table;
}

function caption(figures: Figures): string {
  return `${figures.finding}. ${figures.conditions}. The numbers drawn above, one row per cell; intervals in brackets.`;
}

function column(figures: Figures, metric: Metric): Column {
  const kind = kindOf(metric.unit);
  return { metric, kind, unit: unitFor(kind, everyValue(figures, metric.id)) };
}

function head(figures: Figures, columns: readonly Column[]): HTMLTableRowElement {
  return h(
    "tr",
    {},
    heading("Series", "", "ascending"),
    heading(figures.x.label, "number", "ascending"),
    heading("Trials", "number", "descending"),
    ...columns.map((one) => metricHeading(one)),
    heading("Checks", "", "descending"),
  );
}

function heading(label: string, style: string, first: string): HTMLTableCellElement {
  return h(
    "th",
    { scope: "col", class: style || null },
    button({ class: "sort", "data-sort": first }, () => {}, label),
  );
}

function metricHeading({ metric, unit }: Column): HTMLTableCellElement {
  const up = metric.better === "higher";
  return h(
    "th",
    { scope: "col", class: "number" },
    button(
      { class: "sort", "data-sort": up ? "descending" : "ascending" },
      () => {},
      metric.label,
      h("span", { class: "unit" }, ` ${unit.header} `),
      h(
        "span",
        { class: "better", title: `${metric.better} is better`, "aria-hidden": "true" },
        up ? "↑" : "↓",
      ),
      h("span", { class: "visually-hidden" }, `, ${metric.better} is better`),
    ),
  );
}

function row(
  series: Series,
  point: Point,
  columns: readonly Column[],
  slot: number,
): HTMLTableRowElement {
  return h(
    "tr",
    { id: `cell-${point.cell}` },
    h("th", { scope: "row" }, swatch(slot), series.label),
    h("td", { class: "number" }, String(point.x)),
    h("td", { class: "number" }, String(point.trials)),
    ...columns.map((one) => valueCell(measureOf(point, one.metric.id), one)),
    h(
      "td",
      { class: "checks-cell words", "data-sort-value": point.checks.length },
      ...badges(point),
    ),
  );
}

function valueCell(measure: Measure | null, { kind, unit }: Column): HTMLTableCellElement {
  const value = measure?.value ?? null;
  const half = halfWidth(measure?.low, measure?.high);
  const range = interval(measure?.low, measure?.high, unit);
  const origin = measure?.origin === "reported" ? "as the tool reported it" : measure?.origin;
  const title = [exact(kind, value), origin, range && intervalText(measure?.interval ?? "interval")]
    .filter(Boolean)
    .join(", ");
  return h(
    "td",
    { class: value === null ? "number unknown" : "number", "data-sort-value": value ?? "", title },
    h("span", { class: "value" }, inUnit(value, unit, half)),
    measure?.origin === "reported" && value !== null
      ? h("span", { class: "origin", "aria-label": "reported by the tool" }, "r")
      : null,
    range && h("span", { class: "range" }, range),
  );
}

function badges(point: Point): (Node | string)[] {
  const marks: string[] = [...(point.overload ? ["overload"] : []), ...point.checks];
  return marks.map((mark) =>
    mark === "overload"
      ? h("span", { class: "tag" }, mark)
      : h("a", { class: "tag", href: `#check-${mark}` }, mark),
  );
}
