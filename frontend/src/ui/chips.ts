// Filters as chips that can be taken away, and a menu to add those the data offers.
import type { Figures, Series } from "../api/figures";
import { FILTERS, type Filter, withFilter, withoutFilter } from "../state/query";
import { utc } from "../text/format";
import { button, h } from "./dom";

interface Choice {
  readonly filter: Filter;
  readonly value: string;
  readonly label: string;
}

/** The service's own spelling of a name in a link; it takes the plain name as well. */
export function slug(name: string): string {
  const spelled = name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_\s-]/gu, "")
    .replace(/[-\s]+/g, "-")
    .replace(/^[-_]+|[-_]+$/g, "");
  return spelled || name;
}

function choice(series: Series, filter: Filter): Choice | null {
  const named = {
    run: null,
    server: { value: series.server_slug ?? slug(series.server), label: series.server },
    workload: series.workload && { value: series.workload, label: series.workload },
    tool: series.tool && { value: series.tool, label: series.tool },
    host: series.host && { value: series.host_slug ?? slug(series.host), label: series.host },
  }[filter];
  return named ? { filter, ...named } : null;
}

function names(choice: Choice, value: string): boolean {
  return choice.value === value || choice.label === value;
}

function choices(figures: Figures): Choice[] {
  const found = new Map<string, Choice>();
  for (const filter of FILTERS) {
    for (const series of figures.series) {
      const one = choice(series, filter);
      if (one) found.set(`${filter}=${one.value}`, one);
    }
  }
  for (const run of figures.runs) {
    const label = run.started_at ? utc(run.started_at) : run.id.slice(0, 8);
    found.set(`run=${run.id}`, { filter: "run", value: run.id, label });
  }
  return [...found.values()];
}

export function chips(
  figures: Figures | null,
  query: string,
  go: (query: string) => void,
): HTMLElement[] {
  const offered = figures ? choices(figures) : [];
  const chosen = [...new URLSearchParams(query)].filter((pair): pair is [Filter, string] =>
    (FILTERS as readonly string[]).includes(pair[0]),
  );
  const made = chosen.map(([filter, value]) => {
    const known = offered.find((one) => one.filter === filter && names(one, value));
    const label = known?.label ?? (filter === "run" ? value.slice(0, 8) : value);
    return h(
      "span",
      { class: "chip" },
      h("span", { class: "chip-key" }, filter),
      label,
      button(
        { class: "chip-remove", "aria-label": `Remove ${filter} ${label}` },
        () => go(withoutFilter(query, filter, value)),
        "×",
      ),
    );
  });
  const rest = offered.filter(
    (one) => !chosen.some(([filter, value]) => filter === one.filter && names(one, value)),
  );
  const lead =
    chosen.length === 0 ? [h("span", { class: "chip chip-all" }, "all runs you may see")] : [];
  return [...lead, ...made, ...(rest.length > 0 ? [menu(rest, query, go)] : [])];
}

function menu(rest: readonly Choice[], query: string, go: (query: string) => void): HTMLElement {
  const groups = FILTERS.flatMap((filter) => {
    const values = rest.filter((one) => one.filter === filter);
    // A filter that every series already shares would change nothing.
    if (values.length < 2) return [];
    return [
      h(
        "div",
        { class: "menu-group" },
        h("p", { class: "menu-title" }, filter),
        ...values.map((one) =>
          button({ class: "menu-item" }, () => go(withFilter(query, filter, one.value)), one.label),
        ),
      ),
    ];
  });
  const details = h(
    "details",
    { class: "menu" },
    h("summary", { class: "chip chip-add" }, "+ add filter"),
    h("div", { class: "menu-body" }, ...groups),
  );
  return groups.length > 0 ? details : h("span", { hidden: true });
}
