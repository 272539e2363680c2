// The command palette: Ctrl-K, ⌘K or "/" opens it; arrows choose, Enter goes, Escape closes.
import { getJson, isAbort, Problem } from "../api/client";
import { h } from "./dom";
import { onKey } from "./keyboard";
import { isLeaving, watchReader } from "./reading_again";

interface Result {
  readonly kind: string;
  readonly title: string;
  readonly hint: string;
  readonly url: string;
  /** What stands above the results of a group; empty for those of the workspace. */
  readonly group: string;
}

const PAUSE_MS = 120;

/** `searches`: where it looks, such as "this workspace". */
function searchField(searches: string): HTMLInputElement {
  return h("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": `Search ${searches}`,
    placeholder: `Search ${searches}: servers, hosts, workloads, runs, result sets, pages`,
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 100,
  });
}

function isPaletteKey(event: KeyboardEvent): boolean {
  return event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey;
}

/** The rows in their groups, each below its heading. */
export function grouped(
  results: readonly Pick<Result, "group">[],
  rows: readonly HTMLElement[],
): HTMLElement[] {
  const lists = new Map<string, HTMLElement>();
  for (const [index, row] of rows.entries()) {
    const group = results[index]?.group ?? "";
    const list = lists.get(group) ?? groupList(group, `palette-group-${lists.size}`);
    lists.set(group, list);
    list.append(row);
  }
  return [...lists.values()];
}

function groupList(group: string, id: string): HTMLElement {
  if (group === "") return h("ul", { role: "group", "aria-label": "Here" });
  const heading = h("li", { id, role: "presentation", class: "palette-group" }, group);
  return h("ul", { role: "group", "aria-labelledby": id }, heading);
}

class Palette {
  /** Where results are asked for. */
  readonly #url: string;
  readonly #input: HTMLInputElement;
  readonly #list = h("div", { id: "palette-list", role: "listbox", "aria-label": "Results" });
  readonly #status = h("p", { class: "hint palette-said", role: "status" });
  readonly #dialog = h("dialog", { class: "dialog palette", "aria-label": "Search" });
  #results: readonly Result[] = [];
  #rows: readonly HTMLElement[] = [];
  #chosen = 0;
  #isWaiting = false;
  #opensFirst = false;
  #timer = 0;
  #pending: AbortController | null = null;

  constructor(url: string, searches: string) {
    this.#url = url;
    this.#input = searchField(searches);
    this.#dialog.append(this.#input, this.#list, this.#status);
    this.#input.addEventListener("input", () => {
      this.#waits();
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => void this.#search(), PAUSE_MS);
    });
    this.#input.addEventListener("keydown", (event) => this.#onKeydown(event));
    this.#dialog.addEventListener("click", (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
    this.#dialog.addEventListener("close", () => this.#forgets());
    document.body.append(this.#dialog);
  }

  open(): void {
    if (this.#dialog.open) return;
    watchReader();
    this.#input.value = "";
    this.#dialog.showModal();
    this.#input.focus();
    void this.#search();
  }

  /** What is listed answers an earlier question: Enter opens the first result of the next answer. */
  #waits(): void {
    this.#pending?.abort();
    this.#isWaiting = true;
    this.#opensFirst = false;
    this.#list.setAttribute("aria-busy", "true");
    this.#status.textContent = "Searching…";
  }

  /** No answer that comes late opens anything once the reader closed the palette. */
  #forgets(): void {
    clearTimeout(this.#timer);
    this.#pending?.abort();
    this.#opensFirst = false;
  }

  async #search(): Promise<void> {
    const query = this.#input.value.trim();
    this.#pending?.abort();
    const request = new AbortController();
    this.#pending = request;
    try {
      const url = `${this.#url}?q=${encodeURIComponent(query)}`;
      this.#show(((await getJson(url, request.signal)) as { results: Result[] }).results);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      this.#show([]);
      this.#status.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    }
  }

  #show(results: readonly Result[]): void {
    this.#isWaiting = false;
    this.#list.removeAttribute("aria-busy");
    this.#results = results;
    const rows = results.map((result, index) => this.#row(result, index));
    this.#rows = rows;
    this.#list.replaceChildren(...grouped(results, rows));
    this.#list.hidden = results.length === 0;
    this.#status.textContent =
      results.length === 0
        ? `Nothing matches “${this.#input.value.trim()}”.`
        : "↑ ↓ choose · Enter opens";
    this.#choose(0);
    if (this.#opensFirst && !isLeaving()) this.#openChosen();
  }

  #openChosen(): void {
    this.#opensFirst = this.#isWaiting;
    const result = this.#results[this.#chosen];
    if (result && !this.#isWaiting) location.assign(result.url);
  }

  #row(result: Result, index: number): HTMLLIElement {
    const item = h(
      "li",
      { id: `palette-${index}`, role: "option", "aria-selected": "false" },
      h("span", { class: "palette-title" }, result.title),
      h("span", { class: "hint palette-hint" }, result.hint),
      h("span", { class: "tag" }, result.kind),
    );
    item.addEventListener("click", () => location.assign(result.url));
    item.addEventListener("mousemove", () => {
      if (this.#chosen !== index) this.#choose(index);
    });
    return item;
  }

  #choose(chosen: number): void {
    this.#chosen = chosen;
    for (const [index, row] of this.#rows.entries()) {
      row.setAttribute("aria-selected", String(index === chosen));
      if (index === chosen) row.scrollIntoView({ block: "nearest" });
    }
    if (this.#results.length > 0) {
      this.#input.setAttribute("aria-activedescendant", `palette-${chosen}`);
    } else this.#input.removeAttribute("aria-activedescendant");
  }

  #onKeydown(event: KeyboardEvent): void {
    const count = this.#results.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && count > 0) {
      event.preventDefault();
      this.#choose((this.#chosen + step + count) % count);
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.#openChosen();
    }
  }
}

export function bindPalette(): void {
  const opener = document.querySelector<HTMLButtonElement>("button[data-palette]");
  if (!opener) return;
  const { palette: url = "", searches = "" } = opener.dataset;
  const palette = new Palette(url, searches);
  document.addEventListener("keydown", (event) => {
    if (!isPaletteKey(event)) return;
    event.preventDefault();
    palette.open();
  });
  onKey("/", () => palette.open());
  opener.addEventListener("click", () => palette.open());
  opener.hidden = false;
}
