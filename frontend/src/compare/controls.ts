// What is asked and how it is drawn: the metric, the load, the limit, the baseline, the view, the
// axis, panels, series, log axes. Each control writes the query and nothing else.
import {
  type Figures,
  fullLabel,
  type Group,
  isCategory,
  type Metric,
  panelsOrWhole,
} from "../api/figures";
import { trendAxis } from "../charts/trend";
import type { View } from "../charts/view";
import { VIEWS, viewOf } from "../charts/views";
import { type FieldName, queryFields } from "../query/fields";
import {
  limitOf,
  logX,
  logY,
  type RankedLoad,
  valueIn,
  valuesIn,
  withAxis,
  withValue,
  withValues,
} from "../query/query";
import { button, h } from "../site/dom";
import { grouped, short } from "../text/format";
import { hasOwnAxis, type TabAxes } from "./tab_axes";

type Go = (query: string) => void;

const GROUPS: readonly (readonly [Group, string])[] = [
  ["rate", "Rate"],
  ["latency", "Latency"],
  ["errors", "Errors"],
  ["resources", "Resources"],
];

/** What is asked: the metric, and the place that is ranked. */
export interface Question {
  readonly metrics: readonly Metric[];
  readonly metric: string;
  readonly choose: (metric: string) => void;
  /** Null on a frozen page, which keeps its place. */
  readonly go: Go | null;
}

export function questionControls(figures: Figures, query: string, asked: Question): HTMLElement[] {
  const metric = metricSelect(asked);
  if (!asked.go) return [metric];
  const load = loadSelect(figures, query, asked.go);
  return [metric, ...(load ? [load] : [])];
}

/** The limit on p99; none on a frozen page, which keeps its own. */
export function limitControls(query: string, go: Go | null): HTMLElement[] {
  return go ? [limitField(query, go)] : [];
}

function metricSelect({ metrics, metric, choose }: Question): HTMLElement {
  const option = ({ id, label }: Metric): HTMLElement => h("option", { value: id }, label);
  const groups = GROUPS.flatMap(([id, label]) => {
    const inside = metrics.filter((offered) => offered.group === id);
    return inside.length > 0 ? [h("optgroup", { label }, ...inside.map(option))] : [];
  });
  const loose = metrics.filter((offered) => !GROUPS.some(([id]) => id === offered.group));
  const field = h("select", { "data-control": "metric" }, ...loose.map(option), ...groups);
  field.value = metric;
  field.addEventListener("change", () => choose(field.value));
  return h("label", { class: "inline" }, "Metric", field);
}

/** The place that is ranked; null where there is one place or none. */
function loadSelect(figures: Figures, query: string, go: Go): HTMLElement | null {
  const { values, label, field: axis } = figures.x;
  if (values.length < 2) return null;
  const ranked = panelsOrWhole(figures).find((panel) => panel.ranking)?.ranking?.x;
  const chosen = valueIn(query, "at") ?? String(ranked ?? "");
  const offered = values.map(String);
  const choices = offered.includes(chosen) ? offered : ["", ...offered];
  const shown = (text: string): string =>
    text && !isCategory(figures) ? grouped(Number(text)) : short(text || "–", 32);
  const options = choices.map((text) => [text, shown(text)] as const);
  const name = axis === "connections" || axis === "rate" ? "Load" : label;
  return select(name, "at", options, chosen, (at) => go(withValue(query, "at", at || null)));
}

/** A tab for each view with something to show, and for the chosen one, which says what it lacks. */
export function viewTabs(
  figures: Figures,
  query: string,
  axes: TabAxes,
  go: Go,
  isLive = true,
): HTMLElement[] {
  const chosen = viewOf(query);
  const load = rankedLoad(figures);
  const axis = trendAxis(figures) ?? undefined;
  const offered = VIEWS.filter(
    (view) => view === chosen || hasContent(view, figures, chosen, isLive),
  );
  return offered.map((view) =>
    button(
      { class: "view-tab", "aria-pressed": String(view === chosen), "data-view": view.id },
      () => go(axes.open(query, view, load, axis)),
      // The figures of a trend have its axis, which the other tabs leave.
      chosen.leave && view === VIEWS[0] ? "By load" : view.name(figures),
    ),
  );
}

function hasContent(view: View, figures: Figures, chosen: View, isLive: boolean): boolean {
  if (isLive && view.open) return trendAxis(figures) !== null;
  // The figures of another axis do not say what this view would have.
  if (isLive && hasOwnAxis(chosen)) return true;
  return view.empty(figures, figures.metric) === null;
}

/** The load that the figures are ranked at, on an axis of loads. */
function rankedLoad(figures: Figures): RankedLoad | null {
  const { field } = figures.x;
  if (field !== "connections" && field !== "rate") return null;
  const x = panelsOrWhole(figures).find((panel) => panel.ranking)?.ranking?.x ?? figures.curves?.at;
  return typeof x === "number" ? { field, x } : null;
}

export function scaleToggles(figures: Figures, query: string, go: Go): HTMLElement[] {
  const x = logX(query, figures.x.values);
  const y = logY(query);
  const able = viewOf(query).logAxes(figures);
  return [
    toggle("Log x", x && able.x, able.x, () => go(withValue(query, "logx", x ? "0" : "1"))),
    toggle("Log y", y && able.y, able.y, () => go(withValue(query, "logy", y ? null : "1"))),
  ];
}

function toggle(label: string, on: boolean, able: boolean, act: () => void): HTMLButtonElement {
  return button(
    { class: "toggle", "aria-pressed": String(on), "data-scale": label, disabled: !able },
    act,
    label,
  );
}

/** How the figures are arranged: only on a page that can ask the service again. */
export function arrangement(figures: Figures, query: string, go: Go): HTMLElement[] {
  const { axes, grouping } = queryFields();
  return [
    select("Axis", "x", fields(axes, figures.x.field), figures.x.field, (x) =>
      go(withAxis(query, x)),
    ),
    select(
      "Panels",
      "facet",
      [["", "none"], ...fields(grouping, valueIn(query, "facet"))],
      valueIn(query, "facet") ?? "",
      (facet) => go(withValue(query, "facet", facet || null)),
    ),
    seriesChoice(query, go),
  ];
}

export function baselineSelect(figures: Figures, query: string, go: Go): HTMLElement {
  const chosen = valueIn(query, "baseline") ?? "";
  return select("Baseline", "baseline", baselines(figures, query), chosen, (series) =>
    go(withValue(query, "baseline", series || null)),
  );
}

/** A field that is not in the list stays selectable by its id. */
function fields(offered: readonly FieldName[], chosen: string | null): readonly FieldName[] {
  const isOffered = offered.some(([value]) => value === chosen);
  return isOffered || !chosen ? offered : [...offered, [chosen, chosen]];
}

/** The names of series shown so far, by id: a filter may leave out the baseline. */
const namesSeen = new Map<string, string>();

function baselines(figures: Figures, query: string): readonly FieldName[] {
  const chosen = valueIn(query, "baseline");
  const shown = figures.series.map(
    (series) => [series.id, short(fullLabel(figures, series), 60)] as const,
  );
  for (const [id, name] of shown) namesSeen.set(id, name);
  const isShown = !chosen || shown.some(([id]) => id === chosen);
  const gone = isShown
    ? []
    : [[chosen, `${namesSeen.get(chosen) ?? "A series"} (not shown)`] as const];
  return [["", "First series"], ...shown, ...gone];
}

function select(
  label: string,
  control: string,
  options: readonly FieldName[],
  chosen: string,
  choose: (value: string) => void,
): HTMLElement {
  const field = h("select", { "data-control": control });
  for (const [value, text] of options) {
    field.append(h("option", { value }, text));
  }
  field.value = chosen;
  field.addEventListener("change", () => choose(field.value));
  return h("label", { class: "inline" }, label, field);
}

/** Which fields tell series apart; none chosen means every field that identifies a series. */
function seriesChoice(query: string, go: Go): HTMLElement {
  const chosen = valuesIn(query, "series");
  const boxes = queryFields().grouping.map(([value, text]) => {
    const box = h("input", { type: "checkbox", value, checked: chosen.includes(value) });
    box.addEventListener("change", () => {
      const next = box.checked ? [...chosen, value] : chosen.filter((field) => field !== value);
      go(withValues(query, "series", next));
    });
    return h("label", { class: "menu-check" }, box, text);
  });
  const names = chosen.length === 0 ? "Automatic" : chosen.join(" + ");
  return h(
    "details",
    { class: "series-choice" },
    h("summary", { "data-control": "series" }, `Series by: ${short(names, 32)}`),
    h("p", { class: "menu-title" }, "Trials of one series have the same …"),
    ...boxes,
    button({ class: "menu-item" }, () => go(withValues(query, "series", [])), "Automatic"),
  );
}

/** "Highest load with p99 under … ms": typed in milliseconds, linked in microseconds. */
function limitField(query: string, go: Go): HTMLElement {
  const limit = limitOf(query);
  const field = h("input", {
    type: "number",
    min: 0,
    step: "any",
    inputmode: "decimal",
    placeholder: "–",
    "data-control": "limit",
    value: limit === null ? null : limit / 1000,
  });
  const send = (): void => {
    const milliseconds = Number(field.value);
    const next =
      field.value === "" || !(milliseconds > 0)
        ? null
        : String(Number((milliseconds * 1000).toPrecision(12)));
    if (next !== valueIn(query, "limit")) go(withValue(query, "limit", next));
  };
  // A redraw at once would replace the control that takes the focus next.
  field.addEventListener("change", () => setTimeout(send));
  return h("label", { class: "inline limit" }, "p99 under", field, "ms");
}
