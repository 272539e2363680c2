// The charts' numbers as real tables: one row per cell, one unit per column; and the curves.
import {
  ERROR_CLASSES,
  type ErrorClass,
  everyValue,
  type Figures,
  intervalText,
  knownMetrics,
  type Measure,
  type Metric,
  measureOf,
  type Point,
  type Series,
  type X,
} from "../api/figures";
import { CLASS_NAMES, shareOf } from "../charts/errors";
import { curvesOf, TICKS, valueAt } from "../charts/percentiles";
import { slotsIn } from "../charts/style/series_style";
import { GROUPING, oneOf } from "../query/query";
import { button, h } from "../site/dom";
import { name } from "../site/names";
import { makeSortable } from "../site/sortable";
import {
  exact,
  halfWidth,
  interval,
  inUnit,
  type Kind,
  kindOf,
  loadPoint,
  percentile,
  plural,
  type Unit,
  unitFor,
} from "../text/format";
import { swatch } from "./swatch";

/** More rows than anyone reads at once are made only on request, or to sort them. */
const FIRST_ROWS = 120;

type ChooseBaseline = ((series: string) => void) | null;

interface Column {
  readonly metric: Metric;
  readonly kind: Kind;
  readonly unit: Unit;
  /** Whether any figure has an interval: the others keep its room, so that digits stay in line. */
  readonly ranged: boolean;
}

interface Layout {
  readonly columns: readonly Column[];
  readonly classes: readonly ErrorClass[];
  readonly slots: ReadonlyMap<string, number>;
  /** What the panels are of, where there are panels. */
  readonly panel: string;
  readonly chooseBaseline: ChooseBaseline;
}

export function figuresTable(
  figures: Figures,
  chooseBaseline: ChooseBaseline = null,
): HTMLElement[] {
  const known = knownMetrics(figures);
  const layout: Layout = {
    columns: (known.length > 0 ? known : figures.metrics).map((one) => column(figures, one)),
    classes: classesIn(figures),
    slots: slotsIn(figures),
    panel: panelName(figures),
    chooseBaseline,
  };
  const cells = figures.series.flatMap((series) =>
    series.points.map((point) => () => row(series, point, layout)),
  );
  const body = h("tbody", {}, ...cells.slice(0, FIRST_ROWS).map((make) => make()));
  const rest = cells.slice(FIRST_ROWS);
  const table = h(
    "table",
    { class: "figures" },
    h("caption", { class: "visually-hidden" }, caption(figures)),
    h("thead", {}, head(figures, layout)),
    body,
  );
  const more = button(
    { class: "button table-more" },
    () => all(),
    `Show all ${plural(cells.length, "row")}`,
  );
  const all = (): void => {
    body.append(...rest.splice(0).map((make) => make()));
    more.remove();
  };
  // Sorting a part would put the wrong rows first.
  table.tHead?.addEventListener("click", all, { capture: true });
  makeSortable(table);
  if (chooseBaseline) pressRows(body, chooseBaseline);
  return rest.length > 0 ? [table, more] : [table];
}

/** "Workload": the head of the column that names the panel of each row; empty without panels. */
function panelName(figures: Figures): string {
  if (!figures.panels) return "";
  const facet = oneOf(figures.query, "facet");
  const name = GROUPING.find(([field]) => field === facet)?.[1] ?? "panel";
  return name.charAt(0).toUpperCase() + name.slice(1);
}

/** A row is a large target for the pointer; the keyboard has the button with its name. */
function pressRows(body: HTMLElement, choose: (series: string) => void): void {
  body.addEventListener("click", (event) => {
    const target = event.target as Element;
    const series = target.closest<HTMLElement>("tr[data-series]")?.dataset.series;
    const selecting = (getSelection()?.toString() ?? "") !== "";
    if (series && !selecting && !target.closest("a, button")) choose(series);
  });
}

function classesIn(figures: Figures): readonly ErrorClass[] {
  return ERROR_CLASSES.filter((one) =>
    figures.series.some((series) => series.points.some((point) => (shareOf(point, one) ?? 0) > 0)),
  );
}

/** The same table under another finding: its rows, and how they are sorted, stay. */
export function recaption(place: HTMLElement, figures: Figures): void {
  const told = place.querySelector("caption");
  if (told) told.textContent = caption(figures);
}

function caption(figures: Figures): string {
  const mark = figures.outcome.overridden ? " Ranked on a reader's override." : "";
  return `${figures.finding}. ${figures.conditions}. The numbers drawn above, one row per cell; intervals in brackets.${mark}`;
}

function column(figures: Figures, metric: Metric): Column {
  const kind = kindOf(metric.unit);
  const unit = unitFor(kind, everyValue(figures, metric.id));
  const ranged = figures.series.some((series) =>
    series.points.some((point) => {
      const measure = measureOf(point, metric.id);
      return interval(measure?.low, measure?.high, unit) !== "";
    }),
  );
  return { metric, kind, unit, ranged };
}

function head(figures: Figures, { columns, classes, panel }: Layout): HTMLTableRowElement {
  return h(
    "tr",
    {},
    heading("Series", "", "ascending"),
    panel && heading(panel, "", "ascending"),
    heading(figures.x.label, figures.x.values.every(isNumber) ? "number" : "", "ascending"),
    heading("Trials", "number", "descending"),
    ...columns.map((one) => metricHeading(one.metric.label, one.unit.header, one.metric.better)),
    ...classes.map((one) => metricHeading(`Errors: ${CLASS_NAMES[one]}`, "%", "lower")),
    heading("Checks", "", "descending"),
  );
}

/** Numbers stand at the right, under a heading at the right; versions and names at the left. */
function isNumber(x: X): boolean {
  return typeof x === "number";
}

function heading(label: string, style: string, first: string): HTMLTableCellElement {
  return h(
    "th",
    { scope: "col", class: style || null },
    button({ class: "sort", "data-sort": first }, () => {}, label),
  );
}

function metricHeading(
  label: string,
  unit: string,
  better: "higher" | "lower",
): HTMLTableCellElement {
  const up = better === "higher";
  return h(
    "th",
    { scope: "col", class: "number" },
    button(
      { class: "sort", "data-sort": up ? "descending" : "ascending" },
      () => {},
      label,
      h("span", { class: "unit" }, ` ${unit} `),
      h(
        "span",
        { class: "better", title: `${better} is better`, "aria-hidden": "true" },
        up ? "↑" : "↓",
      ),
      h("span", { class: "visually-hidden" }, `, ${better} is better`),
    ),
  );
}

function row(series: Series, point: Point, layout: Layout): HTMLTableRowElement {
  const numeric = isNumber(point.x);
  return h(
    "tr",
    { id: `cell-${point.cell}`, "data-series": series.id },
    h(
      "th",
      { scope: "row" },
      swatch(layout.slots.get(series.id) ?? series.slot),
      seriesName(series, layout.chooseBaseline),
    ),
    layout.panel && h("td", { class: "words" }, name(series.facet ?? "", 40)),
    h(
      "td",
      { class: numeric ? "number" : null },
      numeric ? String(point.x) : name(String(point.x), 40),
    ),
    h("td", { class: "number" }, String(point.trials)),
    ...layout.columns.map((one) => valueCell(measureOf(point, one.metric.id), one)),
    ...layout.classes.map((one) => shareCell(shareOf(point, one))),
    h(
      "td",
      { class: "checks-cell words", "data-sort-value": point.checks.length },
      ...badges(point),
    ),
  );
}

function seriesName(series: Series, choose: ChooseBaseline): HTMLElement {
  if (!choose) return name(series.label);
  return button(
    { class: "series-name", title: `${series.label}: make it the baseline` },
    () => choose(series.id),
    name(series.label),
  );
}

function shareCell(share: number | null): HTMLTableCellElement {
  return valueCell(
    { value: share, low: null, high: null },
    { kind: "ratio", unit: unitFor("ratio", []), ranged: false },
  );
}

function valueCell(
  measure: Measure | null,
  { kind, unit, ranged }: Omit<Column, "metric">,
): HTMLTableCellElement {
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
    (range || ranged) && h("span", { class: "range" }, range),
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

/** The percentile curves: one row per series, a column per tick; blank where a curve has ended. */
export function curvesTable(figures: Figures): HTMLTableElement | null {
  const curves = curvesOf(figures);
  if (curves.length === 0) return null;
  const percents = TICKS.filter((one) => curves.some((curve) => valueAt(curve, one) !== null));
  const unit = unitFor(
    "time",
    curves.map((curve) => valueAt(curve, 99) ?? valueAt(curve, 50)),
  );
  const slots = slotsIn(figures);
  const panel = panelName(figures);
  const shown = new Map(figures.series.map((series) => [series.id, series]));
  const place = figures.curves?.at ?? null;
  // Panels may be ranked at loads of their own.
  const at = place === null ? "" : ` at ${loadPoint(place, figures.x.label)}`;
  const table = h(
    "table",
    { class: "figures" },
    h("caption", {}, `Latency percentiles${at}, from merged histograms`),
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        heading("Series", "", "ascending"),
        panel && heading(panel, "", "ascending"),
        heading("Responses", "number", "descending"),
        ...percents.map((one) => metricHeading(percentile(one), unit.header, "lower")),
      ),
    ),
    h(
      "tbody",
      {},
      ...curves.map((curve) =>
        h(
          "tr",
          { "data-series": curve.series },
          h(
            "th",
            { scope: "row" },
            swatch(slots.get(curve.series) ?? 0),
            name(shown.get(curve.series)?.label ?? curve.series),
          ),
          panel && h("td", { class: "words" }, name(shown.get(curve.series)?.facet ?? "", 40)),
          h("td", { class: "number" }, String(curve.count)),
          ...percents.map((one) =>
            valueCell(
              { value: valueAt(curve, one), low: null, high: null },
              { kind: "time", unit, ranged: false },
            ),
          ),
        ),
      ),
    ),
  );
  makeSortable(table);
  return table;
}
