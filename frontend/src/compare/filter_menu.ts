// The filter menu: the filters in use, and every field's values with their counts, read when it is
// opened. It stays open while boxes are ticked, and the counts follow.

import { isAbort, Problem } from "../api/client";
import { type Facet, type Facets, type FacetValue, getFacets } from "../api/facets";
import { queryFields } from "../query/fields";
import { canonical, valueIn, withFilter, withoutFilter, withValue } from "../query/query";
import { h } from "../site/dom";
import { keepFocus } from "../site/focus";
import { nameElement } from "../site/names";
import { grouped, plural } from "../text/format";

export class FilterMenu {
  readonly element: HTMLDetailsElement;
  readonly #summary = h("summary", { class: "button" }, "Filters");
  readonly #body = h("div", {});
  readonly #url: (query: string) => string;
  readonly #go: (query: string) => void;
  readonly #open = new Set<string>();
  #query = "";
  #read: string | null = null;
  #pending: AbortController | null = null;

  constructor(url: (query: string) => string, go: (query: string) => void) {
    this.#url = url;
    this.#go = go;
    this.element = h(
      "details",
      { class: "menu" },
      this.#summary,
      h(
        "div",
        { class: "menu-body facets" },
        h("div", { class: "chips", "data-slot": "chips", role: "group", "aria-label": "Filters" }),
        this.#body,
      ),
    );
    this.element.addEventListener("toggle", () => {
      if (this.element.open) void this.#load();
    });
  }

  follow(query: string): void {
    this.#query = query;
    const count = countFilters(query);
    this.#summary.textContent = count > 0 ? `Filters (${count})` : "Filters";
    if (this.element.open) void this.#load();
  }

  async #load(): Promise<void> {
    const query = canonical(this.#query);
    if (this.#read === query) return;
    this.#pending?.abort();
    const request = new AbortController();
    this.#pending = request;
    this.#body.setAttribute("aria-busy", "true");
    if (this.#read === null) this.#body.replaceChildren(...skeleton());
    try {
      const facets = await getFacets(this.#url(query), request.signal);
      this.#read = query;
      this.#draw(facets);
    } catch (error) {
      this.#fail(error);
    } finally {
      if (this.#pending === request) this.#body.setAttribute("aria-busy", "false");
    }
  }

  #fail(error: unknown): void {
    if (isAbort(error)) return;
    if (!(error instanceof Problem)) throw error;
    this.#body.replaceChildren(
      h("p", { class: "field-error" }, error.message),
      error.hint ? h("p", { class: "hint" }, error.hint) : "",
    );
  }

  #draw(facets: Facets): void {
    const first = this.#read !== null && this.#open.size === 0;
    if (first) for (const id of startsOpen(facets)) this.#open.add(id);
    keepFocus(this.#body, () =>
      this.#body.replaceChildren(
        h("p", { class: "menu-title" }, total(facets)),
        ...facets.fields
          .filter((field) => field.values.length > 0)
          .map((field) => this.#field(field)),
        this.#dates(),
      ),
    );
  }

  #field(field: Facet): HTMLDetailsElement {
    const chosen = field.values.filter((value) => value.chosen).length;
    const group = h(
      "details",
      { class: "facet", open: this.#open.has(field.id) },
      h(
        "summary",
        {},
        field.label,
        h(
          "span",
          { class: "aside" },
          chosen > 0 ? `${grouped(chosen)} chosen` : grouped(field.values.length + field.more),
        ),
      ),
      ...field.values.map((value) => this.#value(field.id, value)),
      field.more > 0 &&
        h(
          "p",
          { class: "hint" },
          `${plural(field.more, "more", "more")}: narrow another field to see them`,
        ),
    );
    group.addEventListener("toggle", () => {
      if (group.open) this.#open.add(field.id);
      else this.#open.delete(field.id);
    });
    return group;
  }

  #value(field: string, value: FacetValue): HTMLLabelElement {
    const box = h("input", {
      type: "checkbox",
      checked: value.chosen,
      "data-facet": `${field}=${value.value}`,
    });
    box.addEventListener("change", () => {
      const change = box.checked ? withFilter : withoutFilter;
      this.#go(change(this.#query, field, value.value));
    });
    const none = value.count === 0;
    return h(
      "label",
      { class: none ? "menu-check is-none" : "menu-check" },
      box,
      nameElement(value.label, 40),
      h("span", { class: "count", title: plural(value.count, "trial") }, grouped(value.count)),
    );
  }

  #dates(): HTMLElement {
    const field = (label: string, key: "since" | "until"): HTMLElement => {
      const input = h("input", {
        type: "date",
        value: valueIn(this.#query, key),
        "data-facet": key,
      });
      input.addEventListener("change", () =>
        this.#go(withValue(this.#query, key, input.value || null)),
      );
      return h("label", { class: "inline" }, label, input);
    };
    return h("div", { class: "facet-dates" }, field("since", "since"), field("until", "until"));
  }
}

/** How many fields are filtered; both ends of a span of dates are one. */
function countFilters(query: string): number {
  const keys = new Set(new URLSearchParams(query).keys());
  const dates = keys.has("since") || keys.has("until") ? 1 : 0;
  return queryFields().filters.filter(([field]) => keys.has(field)).length + dates;
}

function total({ total }: Facets): string {
  return `${plural(total.trials, "trial")} in ${plural(total.runs, "run")} match`;
}

/** Fields with a choice made, and the first that offers one. */
function startsOpen({ fields }: Facets): readonly string[] {
  const chosen = fields.filter((field) => field.values.some((value) => value.chosen));
  const first = fields.find((field) => field.values.length > 1);
  return [...chosen, ...(first ? [first] : [])].map((field) => field.id);
}

function skeleton(): HTMLElement[] {
  return [1, 2, 3].map(() => h("span", { class: "bone bone-row" }));
}
