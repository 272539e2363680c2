// The command palette: Ctrl-K, ⌘K or "/" opens it; arrows choose, Enter goes, Escape closes.
import { getJson, isAbort, Problem } from "../api/client";
import { h } from "./dom";
import { onKey } from "./keyboard";

interface Result {
  readonly kind: string;
  readonly title: string;
  readonly hint: string;
  readonly url: string;
}

const PAUSE_MS = 120;

/** Without a workspace the palette knows the links of the page's own navigation. */
function navigation(asked: string): Result[] {
  const links = [...document.querySelectorAll<HTMLAnchorElement>(".topbar a[href]")];
  return links
    .map((link) => ({
      kind: "page",
      title: link.textContent?.trim() ?? "",
      hint: "",
      url: link.getAttribute("href") ?? "/",
    }))
    .filter((result) => result.title.toLowerCase().includes(asked.toLowerCase()));
}

export function bindPalette(): void {
  const opener = document.querySelector<HTMLButtonElement>("button[data-palette]");
  if (!opener) return;
  const url = opener.dataset.palette ?? "";
  let results: readonly Result[] = [];
  let chosen = 0;
  let timer = 0;
  let pending: AbortController | null = null;

  const input = h("input", {
    type: "text",
    role: "combobox",
    "aria-expanded": "true",
    "aria-controls": "palette-list",
    "aria-autocomplete": "list",
    "aria-label": "Search this workspace",
    placeholder: "Servers, hosts, workloads, runs, result sets, pages",
    autocomplete: "off",
    spellcheck: "false",
    maxlength: 100,
  });
  const list = h("ul", { id: "palette-list", role: "listbox", "aria-label": "Results" });
  const said = h("p", { class: "hint palette-said", role: "status" });
  const dialog = h(
    "dialog",
    { class: "dialog palette", "aria-label": "Search" },
    input,
    list,
    said,
  );
  document.body.append(dialog);

  const mark = (): void => {
    for (const [index, row] of [...list.children].entries()) {
      row.setAttribute("aria-selected", String(index === chosen));
      if (index === chosen) row.scrollIntoView({ block: "nearest" });
    }
    if (results.length > 0) input.setAttribute("aria-activedescendant", `palette-${chosen}`);
    else input.removeAttribute("aria-activedescendant");
  };

  const show = (found: readonly Result[]): void => {
    results = found;
    chosen = 0;
    list.replaceChildren(...found.map(row));
    list.hidden = found.length === 0;
    said.textContent =
      found.length === 0 ? `Nothing fits “${input.value.trim()}”.` : "↑ ↓ choose · Enter opens";
    mark();
  };

  const row = (result: Result, index: number): HTMLLIElement => {
    const item = h(
      "li",
      { id: `palette-${index}`, role: "option", "aria-selected": "false" },
      h("span", { class: "palette-title" }, result.title),
      h("span", { class: "hint palette-hint" }, result.hint),
      h("span", { class: "tag" }, result.kind),
    );
    item.addEventListener("click", () => location.assign(result.url));
    item.addEventListener("mousemove", () => {
      if (chosen === index) return;
      chosen = index;
      mark();
    });
    return item;
  };

  const ask = async (): Promise<void> => {
    const asked = input.value.trim();
    if (!url) return show(navigation(asked));
    pending?.abort();
    const mine = new AbortController();
    pending = mine;
    try {
      const body = await getJson(`${url}?q=${encodeURIComponent(asked)}`, mine.signal);
      show((body as { results: Result[] }).results);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      show([]);
      said.textContent = [error.message, error.hint].filter(Boolean).join(" ");
    }
  };

  const open = (): void => {
    if (dialog.open) return;
    input.value = "";
    dialog.showModal();
    input.focus();
    void ask();
  };

  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => void ask(), PAUSE_MS);
  });
  input.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && results.length > 0) {
      event.preventDefault();
      chosen = (chosen + step + results.length) % results.length;
      mark();
    } else if (event.key === "Enter") {
      event.preventDefault();
      const result = results[chosen];
      if (result) location.assign(result.url);
    }
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey)
      return;
    event.preventDefault();
    open();
  });
  onKey("/", open);
  opener.addEventListener("click", open);
  opener.hidden = false;
}
