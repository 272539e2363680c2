// The filters in use as chips, one for each field; each can be removed.
import type { Figures } from "../api/figures";
import { fieldName, queryFields } from "../query/fields";
import { valueIn, withoutFilter, withoutKeys, withValue, withValues } from "../query/query";
import { button, h } from "../site/dom";
import { nameElement } from "../site/names";
import { plural, short, utc } from "../text/format";

type Go = (query: string) => void;

const SHOWN = 3;

/** Fields that links give by slug, and where the figures name them. */
const SLUGS = {
  server: ["server_slug", "server"],
  host: ["host_slug", "host"],
  workload: ["workload_slug", "workload"],
} as const;

/** A value as the figures name it: links carry slugs and ids, readers want names. */
function labelOf(figures: Figures | null, field: string, value: string): string {
  if (value === "unknown") return "unknown";
  if (field === "run") return runLabel(figures, value);
  const slug = SLUGS[field as keyof typeof SLUGS];
  if (!slug) return value;
  const series = figures?.series.find((line) => line[slug[0]] === value);
  return series?.[slug[1]] ?? value;
}

function runLabel(figures: Figures | null, id: string): string {
  const run = figures?.runs.find((listed) => listed.id === id);
  return run?.started_at ? utc(run.started_at) : id.slice(0, 8);
}

export function chips(figures: Figures | null, query: string, go: Go): HTMLElement[] {
  const params = new URLSearchParams(query);
  const filters = queryFields()
    .filters.filter(([field]) => params.has(field))
    .map(([field]) => chip(figures, query, field, params.getAll(field), go));
  const dates = dateChip(query, go);
  const all = [...filters, ...(dates ? [dates] : [])];
  if (all.length === 0) return [h("span", { class: "chip chip-all" }, "All trials")];
  const fields = [...queryFields().filters.map(([field]) => field), "since", "until"];
  const removeAll = (): void => go(withoutKeys(query, fields));
  return [...all, ...(all.length > 1 ? [button({ class: "link" }, removeAll, "Remove all")] : [])];
}

function chip(
  figures: Figures | null,
  query: string,
  field: string,
  values: readonly string[],
  go: Go,
): HTMLElement {
  const key = fieldName(field);
  const labels = values.map((value) => short(labelOf(figures, field, value), 32));
  const [only = ""] = labels;
  const shown = values
    .slice(0, SHOWN)
    .map((value, i) =>
      h(
        "span",
        { class: "chip-value" },
        nameElement(labelOf(figures, field, value), 32),
        values.length > 1 &&
          removeButton(`Remove ${key} ${labels[i]}`, () => go(withoutFilter(query, field, value))),
      ),
    );
  const rest = values.length - shown.length;
  return h(
    "span",
    { class: "chip", role: "group", "aria-label": `${key} filter` },
    h("span", { class: "chip-key" }, key),
    ...shown,
    rest > 0 && h("span", { class: "chip-key" }, `and ${plural(rest, "more", "more")}`),
    (values.length === 1 || rest > 0) &&
      removeButton(values.length === 1 ? `Remove ${key} ${only}` : `Remove the ${key} filter`, () =>
        go(withValues(query, field, [])),
      ),
  );
}

function removeButton(label: string, remove: () => void): HTMLButtonElement {
  return button({ class: "chip-remove", "aria-label": label }, remove, "×");
}

function dateChip(query: string, go: Go): HTMLElement | null {
  const [since, until] = [valueIn(query, "since"), valueIn(query, "until")];
  if (!since && !until) return null;
  const remove = (): void => go(withValue(withValue(query, "since", null), "until", null));
  return h(
    "span",
    { class: "chip" },
    h("span", { class: "chip-key" }, "date"),
    datesText(since, until),
    removeButton("Remove the dates", remove),
  );
}

function datesText(since: string | null, until: string | null): string {
  if (since && until) return `${since} to ${until}`;
  return since ? `since ${since}` : `until ${until}`;
}
