// The charts' numbers as real tables: one row for each load point, one unit for each column.
import {
  type ErrorClass,
  everyValue,
  type Figures,
  knownMetrics,
  type Metric,
  measureOf,
  type Point,
  type Series,
  type X,
} from "../api/figures";
import { CLASS_NAMES, classesIn, shareOf } from "../charts/errors";
import { seriesSlots } from "../charts/style/series_style";
import { button, h } from "../site/dom";
import { nameElement } from "../site/names";
import { makeSortable } from "../site/sortable";
import { grouped, interval, kindOf, plural, unitFor } from "../text/format";
import { shortNames } from "../text/names";
import { swatch } from "./swatch";
import {
  heading,
  LONGEST_PANEL,
  MINOR,
  metricHeading,
  type NumberColumn,
  panelName,
  valueCell,
} from "./table_cells";

/**
 * More rows than these are made only on request, or to sort them: a tab of more takes longer to open
 * than a reader takes for a blink.
 */
const FIRST_ROWS = 48;

/** What a phone shows of a load point, where it is known; the other columns follow on demand. */
const MAJOR_METRICS = ["throughput", "p99"];
const MOST_MAJOR = 2;
/** The metric that a limit is for. */
const LIMITED = "p99";

type ChooseBaseline = ((series: string) => void) | null;

interface Column extends NumberColumn {
  readonly metric: Metric;
}

interface Layout {
  readonly columns: readonly Column[];
  readonly classes: readonly ErrorClass[];
  readonly slots: ReadonlyMap<string, number>;
  /** What is shown of the names, by series. */
  readonly names: ReadonlyMap<string, string>;
  /** The name of the field that divides panels; empty without panels. */
  readonly panel: string;
  readonly chooseBaseline: ChooseBaseline;
}

export function figuresTable(
  figures: Figures,
  chooseBaseline: ChooseBaseline = null,
): HTMLElement[] {
  const measured = knownMetrics(figures);
  const metrics = measured.length > 0 ? measured : figures.metrics;
  const major = majorOf(metrics);
  const layout: Layout = {
    columns: metrics.map((metric) => column(figures, metric, !major.has(metric.id))),
    classes: classesIn(figures),
    slots: seriesSlots(figures),
    names: namesOf(figures),
    panel: panelName(figures),
    chooseBaseline,
  };
  const cells = figures.series.flatMap((series) =>
    series.points.map((point) => () => row(series, point, layout)),
  );
  const body = h("tbody", {}, ...cells.slice(0, FIRST_ROWS).map((make) => make()));
  const rest = cells.slice(FIRST_ROWS);
  const name = h("caption", { class: "visually-hidden" }, caption(figures));
  const table = h("table", { class: "figures" }, name, h("thead", {}, head(figures, layout)), body);
  const columns = columnsToggle(table);
  const more = button(
    { class: "button table-more" },
    () => showAll(),
    `Show all ${plural(cells.length, "row")}`,
  );
  const showAll = (): void => {
    body.append(...rest.splice(0).map((make) => make()));
    more.remove();
  };
  // Sorting only some rows would put the wrong rows first.
  table.tHead?.addEventListener("click", showAll, { capture: true });
  makeSortable(table);
  if (chooseBaseline) pressRows(body, chooseBaseline);
  return [columns, table, ...(rest.length > 0 ? [more] : [])];
}

/** Shows every column on a phone, and takes the minor ones away again. */
function columnsToggle(table: HTMLTableElement): HTMLButtonElement {
  const count = table.querySelectorAll("thead th").length;
  const toggle = button(
    { class: "button table-columns", "aria-expanded": "false" },
    () => {
      const isWhole = table.classList.toggle("has-all-columns");
      toggle.setAttribute("aria-expanded", String(isWhole));
      toggle.textContent = isWhole ? "Show fewer columns" : `Show all ${count} columns`;
    },
    `Show all ${count} columns`,
  );
  return toggle;
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

/** The same table under another finding: rows and their order stay. */
export function updateCaption(place: HTMLElement, figures: Figures): void {
  const element = place.querySelector("caption");
  if (element) element.textContent = caption(figures);
}

function caption(figures: Figures): string {
  const mark = figures.outcome.overridden ? " Ranked by override." : "";
  return `${figures.finding}. ${figures.conditions}. The figures of the chart, one row per load point, with intervals in brackets.${mark}`;
}

function majorOf(metrics: readonly Metric[]): ReadonlySet<string> {
  const ids = metrics.map(({ id }) => id as string);
  const first = MAJOR_METRICS.filter((id) => ids.includes(id));
  return new Set([...new Set([...first, ...ids])].slice(0, MOST_MAJOR));
}

function column(figures: Figures, metric: Metric, isMinor: boolean): Column {
  const kind = kindOf(metric.unit);
  const unit = unitFor(kind, everyValue(figures, metric.id));
  const ranged = figures.series.some((series) =>
    series.points.some((point) => {
      const measure = measureOf(point, metric.id);
      return interval(measure?.low, measure?.high, unit) !== "";
    }),
  );
  return { metric, kind, unit, ranged, isMinor };
}

function head(figures: Figures, { columns, classes, panel }: Layout): HTMLTableRowElement {
  return h(
    "tr",
    {},
    heading("Series", "", "ascending"),
    panel && heading(panel, "", "ascending"),
    heading(figures.x.label, figures.x.values.every(isNumber) ? "number" : "", "ascending"),
    heading("Trials", `number ${MINOR}`, "descending"),
    ...columns.map((each) =>
      metricHeading(each.metric.label, each.unit.header, each.metric.better, each.isMinor),
    ),
    ...classes.map((name) => metricHeading(`Errors: ${CLASS_NAMES[name]}`, "%", "lower", true)),
    heading("Checks", MINOR, "descending"),
  );
}

/** Numbers stand at the right, under a heading at the right; versions and names at the left. */
function isNumber(x: X): boolean {
  return typeof x === "number";
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
      seriesName(series, layout),
    ),
    layout.panel && h("td", { class: "words" }, nameElement(series.facet ?? "", LONGEST_PANEL)),
    h(
      "td",
      { class: numeric ? "number" : null },
      numeric ? grouped(Number(point.x)) : nameElement(String(point.x), 40),
    ),
    h("td", { class: `number ${MINOR}` }, grouped(point.trials)),
    ...layout.columns.map((column) => metricCell(point, column)),
    ...layout.classes.map((name) => shareCell(shareOf(point, name))),
    h(
      "td",
      { class: `checks-cell words ${MINOR}`, "data-sort-value": point.checks.length },
      ...badges(point),
    ),
  );
}

/** A figure; a p99 says whether it may be on the other side of the limit. */
function metricCell(point: Point, column: Column): HTMLTableCellElement {
  const { id } = column.metric;
  const cell = valueCell(measureOf(point, id), column);
  const doubt = id === LIMITED ? point.limit_doubt : undefined;
  if (!doubt) return cell;
  const side = doubt.slice(LIMITED.length).split(":")[0] ?? "";
  cell.append(h("span", { class: "limit-doubt", title: doubt }, side.trim()));
  return cell;
}

function namesOf({ series }: Figures): ReadonlyMap<string, string> {
  const names = shortNames(series.map(({ label }) => label));
  return new Map(series.map(({ id }, i) => [id, names[i] ?? id]));
}

function seriesName({ id, label }: Series, { names, chooseBaseline }: Layout): HTMLElement {
  const name = nameElement(label, undefined, names.get(id));
  if (!chooseBaseline) return name;
  return button(
    { class: "series-name", title: `${label}: make it the baseline` },
    () => chooseBaseline(id),
    name,
  );
}

function shareCell(share: number | null): HTMLTableCellElement {
  return valueCell(
    { value: share, low: null, high: null },
    { kind: "ratio", unit: unitFor("ratio", []), ranged: false, isMinor: true },
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
