// Parts of a page as tabs: links to the parts become a tab list, and the address names the open tab.
//
//   <div data-tabs>
//     <nav> <a href="#results"> <a href="#trials"> …   without JavaScript they jump to the part
//     <section id="results"> <section id="trials"> …
import { targetId } from "./dom";

interface Tab {
  link: HTMLAnchorElement;
  panel: HTMLElement;
}

function tabsOf(root: HTMLElement): Tab[] {
  const links = root.querySelectorAll<HTMLAnchorElement>(":scope > nav > a");
  return [...links].flatMap((link) => {
    const panel = document.getElementById(link.hash.slice(1));
    return panel ? [{ link, panel }] : [];
  });
}

function open(tabs: readonly Tab[], chosen: Tab): void {
  for (const tab of tabs) {
    const isOpen = tab === chosen;
    tab.link.setAttribute("aria-selected", String(isOpen));
    tab.link.tabIndex = isOpen ? 0 : -1;
    tab.panel.hidden = !isOpen;
  }
}

/** Which tab the key leads to from the place `from`; undefined for a key that leads nowhere. */
export function tabAt<Tab>(tabs: readonly Tab[], from: number, key: string): Tab | undefined {
  const places: Record<string, number> = {
    ArrowRight: (from + 1) % tabs.length,
    ArrowLeft: (from + tabs.length - 1) % tabs.length,
    Home: 0,
    End: tabs.length - 1,
  };
  const place = places[key];
  return place === undefined ? undefined : tabs[place];
}

function markUp(root: HTMLElement, tabs: readonly Tab[]): void {
  root.querySelector("nav")?.setAttribute("role", "tablist");
  for (const { link, panel } of tabs) bindTab(link, panel);
  root.dataset.ready = "";
}

/** Tells screen readers that the link is the tab of this panel. */
export function bindTab(link: HTMLAnchorElement, panel: HTMLElement): void {
  link.id = `tab-${panel.id}`;
  link.setAttribute("role", "tab");
  link.setAttribute("aria-controls", panel.id);
  panel.setAttribute("role", "tabpanel");
  panel.setAttribute("aria-labelledby", link.id);
}

/** Opens the tab that has the target of the address, else the first one. */
function openTarget(tabs: readonly Tab[]): void {
  const target = document.getElementById(targetId());
  const chosen = tabs.find(({ panel }) => target !== null && panel.contains(target)) ?? tabs[0];
  if (chosen) open(tabs, chosen);
}

export function startTabs(root: HTMLElement): void {
  const tabs = tabsOf(root);
  markUp(root, tabs);
  openTarget(tabs);
  addEventListener("hashchange", () => openTarget(tabs));
  for (const [place, tab] of tabs.entries()) {
    tab.link.addEventListener("click", (event) => {
      event.preventDefault();
      history.replaceState(null, "", tab.link.hash);
      open(tabs, tab);
    });
    tab.link.addEventListener("keydown", (event) => {
      const next = tabAt(tabs, place, event.key);
      if (!next) return;
      event.preventDefault();
      next.link.focus();
      next.link.click();
    });
  }
}
