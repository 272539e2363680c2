// The filters in force as chips that can be taken away, one per field.
import type { Figures } from "../api/figures";
import { AXES, FILTERS, valueOf, withoutFilter, withValue, withValues } from "../query/query";
import { button, h } from "../site/dom";
import { nameElement } from "../site/names";
import { plural, short, utc } from "../text/format";

type Go = (query: string) => void;

const SHOWN = 3;

/** "client host" for "client": a field as a reader calls it. */
function fieldName(field: string): string {
  return AXES.find(([value]) => value === field)?.[1] ?? field;
}

/** A value as the figures name it: links carry slugs and ids, readers want names. */
function labelOf(figures: Figures | null, field: string, value: string): string {
  if (value === "unknown") return "unknown";
  if (field === "run") {
    const run = figures?.runs.find((one) => one.id === value);
    return run?.started_at ? utc(run.started_at) : value.slice(0, 8);
  }
  for (const series of figures?.series ?? []) {
    if (field === "server" && series.server_slug === value) return series.server;
    if (field === "host" && series.host_slug === value) return series.host ?? value;
    if (field === "workload" && series.workload_slug === value) return series.workload ?? value;
  }
  return value;
}

export function chips(figures: Figures | null, query: string, go: Go): HTMLElement[] {
  const params = new URLSearchParams(query);
  const made = FILTERS.filter((field) => params.has(field)).map((field) =>
    chip(figures, query, field, params.getAll(field), go),
  );
  const dates = dateChip(query, go);
  const all = [...made, ...(dates ? [dates] : [])];
  return all.length > 0 ? all : [h("span", { class: "chip chip-all" }, "all trials you may see")];
}

function chip(
  figures: Figures | null,
  query: string,
  field: string,
  values: readonly string[],
  go: Go,
): HTMLElement {
  const shown = values.slice(0, SHOWN).map((value) => {
    const label = labelOf(figures, field, value);
    const take = values.length > 1;
    return h(
      "span",
      { class: "chip-value" },
      nameElement(label, 32),
      take &&
        button(
          { class: "chip-remove", "aria-label": `Remove ${fieldName(field)} ${short(label, 32)}` },
          () => go(withoutFilter(query, field, value)),
          "×",
        ),
    );
  });
  const rest = values.length - shown.length;
  return h(
    "span",
    { class: "chip", role: "group", "aria-label": `${fieldName(field)} filter` },
    h("span", { class: "chip-key" }, fieldName(field)),
    ...shown,
    rest > 0 && h("span", { class: "chip-key" }, `and ${plural(rest, "more", "more")}`),
    values.length === 1 || rest > 0
      ? button(
          {
            class: "chip-remove",
            "aria-label":
              values.length === 1
                ? `Remove ${fieldName(field)} ${short(labelOf(figures, field, values[0] ?? ""), 32)}`
                : `Remove the ${fieldName(field)} filter`,
          },
          () => go(withValues(query, field, [])),
          "×",
        )
      : null,
  );
}

function dateChip(query: string, go: Go): HTMLElement | null {
  const [since, until] = [valueOf(query, "since"), valueOf(query, "until")];
  if (!since && !until) return null;
  const said =
    since && until ? `${since} to ${until}` : since ? `since ${since}` : `until ${until}`;
  return h(
    "span",
    { class: "chip" },
    h("span", { class: "chip-key" }, "date"),
    said,
    button(
      { class: "chip-remove", "aria-label": "Remove the dates" },
      () => go(withValue(withValue(query, "since", null), "until", null)),
      "×",
    ),
  );
}
