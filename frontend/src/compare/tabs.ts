// The evidence below the charts as tabs. Without a script its parts stand one below the other, and
// the links lead to them.
import { fragmentValue, joinFragments } from "../query/fragment";
import { slot, targetId } from "../site/dom";
import { bindTab, tabAt } from "../site/tabs";

/** By tab: its name, and whether there is nothing in it. */
export type TabContents = Readonly<
  Record<string, { readonly label: string; readonly isEmpty: boolean }>
>;

export class Tabs {
  readonly #root: HTMLElement;
  readonly #tabs: readonly HTMLAnchorElement[];
  #chosen: string | null = null;

  constructor(root: HTMLElement) {
    this.#root = root;
    const list = slot(root, "tabs");
    this.#tabs = [...list.querySelectorAll("a")];
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Evidence");
    for (const tab of this.#tabs) this.#bind(tab);
    list.addEventListener("keydown", (event) => this.#move(event));
    root.addEventListener("click", (event) => this.#follow(event));
    addEventListener("hashchange", () => this.#arrive());
    // On paper there is nothing to press.
    addEventListener("beforeprint", () => this.#showPanels(this.#offered));
    addEventListener("afterprint", () => this.#draw());
    this.#chosen = this.#panelOf(document.getElementById(targetId()))?.id ?? null;
    this.#draw();
  }

  /** Names the tabs; a tab without content is hidden. */
  offer(contents: TabContents): void {
    for (const tab of this.#tabs) {
      const content = contents[idOf(tab)];
      if (!content) continue;
      tab.textContent = content.label;
      tab.hidden = content.isEmpty;
    }
    this.#draw();
  }

  /** Opens the tab of an element on the page, if it is in one. */
  reveal(element: Element | null): void {
    const panel = this.#panelOf(element);
    if (!panel) return;
    this.#chosen = panel.id;
    const isAsked = fragmentValue(location.hash, "tab") !== null;
    if (isAsked) history.replaceState(history.state, "", this.#address(panel.id));
    this.#draw();
  }

  #bind(tab: HTMLAnchorElement): void {
    const panel = this.#panel(tab);
    bindTab(tab, panel);
    panel.tabIndex = -1;
  }

  get #offered(): readonly HTMLAnchorElement[] {
    return this.#tabs.filter((tab) => !tab.hidden);
  }

  /** The tab of the address, else the one that was opened, else the first. */
  get #current(): HTMLAnchorElement | undefined {
    const asked = fragmentValue(location.hash, "tab") ?? this.#chosen;
    return this.#offered.find((tab) => idOf(tab) === asked) ?? this.#offered[0];
  }

  #draw(): void {
    const current = this.#current;
    for (const tab of this.#tabs) {
      tab.setAttribute("aria-selected", String(tab === current));
      tab.tabIndex = tab === current ? 0 : -1;
    }
    this.#showPanels(current ? [current] : []);
  }

  #showPanels(shown: readonly HTMLAnchorElement[]): void {
    for (const tab of this.#tabs) this.#panel(tab).hidden = !shown.includes(tab);
  }

  /** An entry of the history, so that the browser's Back returns to the tab before. */
  #open(tab: HTMLAnchorElement): void {
    const to = this.#address(idOf(tab));
    if (tab !== this.#current) history.pushState(history.state, "", to);
    else history.replaceState(history.state, "", to);
    this.#draw();
  }

  #address(id: string): string {
    return joinFragments(location.hash, `#tab=${id}`);
  }

  #move(event: KeyboardEvent): void {
    const tabs = this.#offered;
    const from = tabs.indexOf(event.target as HTMLAnchorElement);
    const tab = tabAt(tabs, from, event.key);
    if (from < 0 || !tab) return;
    event.preventDefault();
    this.#open(tab);
    tab.focus();
  }

  /** A link to a place in a tab opens the tab, and keeps what else the address holds. */
  #follow(event: MouseEvent): void {
    const link = (event.target as Element | null)?.closest<HTMLAnchorElement>('a[href^="#"]');
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const target = document.getElementById(link.hash.slice(1));
    const panel = this.#panelOf(target);
    const tab = this.#tabs.find((candidate) => panel && idOf(candidate) === panel.id);
    if (!target || !tab) return;
    event.preventDefault();
    this.#open(tab);
    if (link === tab) return;
    link.closest("details")?.removeAttribute("open");
    target.scrollIntoView({ block: target === panel ? "start" : "center" });
    if (target.tabIndex < 0 && target !== panel) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  }

  #arrive(): void {
    const target = document.getElementById(targetId());
    this.reveal(target);
    this.#draw();
    target?.scrollIntoView({ block: "center" });
  }

  #panel(tab: HTMLAnchorElement): HTMLElement {
    const panel = this.#root.querySelector<HTMLElement>(tab.hash);
    if (!panel) throw new Error(`The template has no part ${tab.hash}.`);
    return panel;
  }

  #panelOf(element: Element | null): HTMLElement | null {
    const panel = element?.closest<HTMLElement>("[role=tabpanel]") ?? null;
    return panel && this.#root.contains(panel) ? panel : null;
  }
}

function idOf(tab: HTMLAnchorElement): string {
  return tab.hash.slice(1);
}
