// The cells that the tables of figures share: sortable headings, and numbers with their interval.
import { type Figures, intervalText, type Measure } from "../api/figures";
import { rangeOfUnlike, valueText } from "../charts/unlike";
import { fieldName } from "../query/fields";
import { valueIn } from "../query/query";
import { button, h } from "../site/dom";
import { exact, interval, type Kind, type Unit } from "../text/format";

export interface NumberColumn {
  readonly kind: Kind;
  readonly unit: Unit;
  /** Whether any figure has an interval: the others keep its room, so that digits stay in line. */
  readonly ranged: boolean;
  /** Whether a phone shows the column on demand only. */
  readonly isMinor?: boolean;
}

/** Of cells and heads that a phone shows on demand only. */
export const MINOR = "is-minor";

/** Of the name of a panel, in characters: a label that is cut cannot be told from the next one. */
export const LONGEST_PANEL = 120;

export function heading(label: string, style: string, first: string): HTMLTableCellElement {
  return h(
    "th",
    { scope: "col", class: style || null },
    button({ class: "sort", "data-sort": first }, () => {}, label),
  );
}

export function metricHeading(
  label: string,
  unit: string,
  better: "higher" | "lower",
  isMinor = false,
): HTMLTableCellElement {
  const up = better === "higher";
  return h(
    "th",
    { scope: "col", class: `number${isMinor ? ` ${MINOR}` : ""}` },
    button(
      { class: "sort", "data-sort": up ? "descending" : "ascending" },
      () => {},
      label,
      h("span", { class: "unit" }, ` ${unit}\u00a0`),
      h(
        "span",
        { class: "better", title: `${better} is better`, "aria-hidden": "true" },
        up ? "↑" : "↓",
      ),
      h("span", { class: "visually-hidden" }, `, ${better} is better`),
    ),
  );
}

export function valueCell(
  measure: Measure | null,
  { kind, unit, ranged, isMinor }: NumberColumn,
): HTMLTableCellElement {
  const shown = measure ?? UNMEASURED;
  const { value, low, high, origin } = shown;
  const range = rangeOfUnlike(shown) ? "" : interval(low, high, unit);
  const isReported = origin === "reported" && value !== null;
  return h(
    "td",
    {
      class: `number${value === null ? " unknown" : ""}${isMinor ? ` ${MINOR}` : ""}`,
      "data-sort-value": value ?? "",
      title: cellTitle(shown, kind, range !== ""),
    },
    h("span", { class: "value" }, valueText(shown, unit)),
    isReported && h("span", { class: "origin", "aria-label": "reported by the tool" }, "r"),
    (range || ranged) && h("span", { class: "range" }, range),
  );
}

const UNMEASURED: Measure = { value: null, low: null, high: null };

function cellTitle(measure: Measure, kind: Kind, hasRange: boolean): string {
  const { value, origin, interval: name, pooled } = measure;
  const isUnlike = rangeOfUnlike(measure) !== null;
  const source = origin === "reported" ? "as the tool reported it" : origin;
  const range = hasRange && intervalText(name ?? "interval");
  const whole = typeof pooled === "number" && `all requests together ${exact(kind, pooled)}`;
  const centre = isUnlike ? `geometric mean ${exact(kind, value)}` : exact(kind, value);
  const unlike = isUnlike && "trials differ tenfold or more";
  return [centre, source, range, unlike, whole].filter(Boolean).join(", ");
}

/** "Workload": the head of the column that names the panel of each row; empty without panels. */
export function panelName(figures: Figures): string {
  if (!figures.panels) return "";
  const facet = valueIn(figures.query, "facet");
  const name = facet === null ? "panel" : fieldName(facet);
  return name.charAt(0).toUpperCase() + name.slice(1);
}
