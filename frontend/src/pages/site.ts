// On every page: theme, numbers and dates as text, copy buttons, sortable tables, menus.
import { bindCopy } from "../site/copy";
import { formatNumbers, formatTimes } from "../site/enhance";
import { onKey } from "../site/keyboard";
import { keepMenusOnScreen } from "../site/menu_place";
import { bindPalette } from "../site/palette";
import { makeSortable } from "../site/sortable";
import { chooseTheme, nextTheme, storedTheme } from "../site/theme_choice";
import { bindTicked } from "../site/ticked";

function bindTheme(): void {
  const control = document.querySelector<HTMLButtonElement>("button[data-theme-toggle]");
  if (!control) return;
  const name = (): void => {
    const theme = storedTheme();
    control.setAttribute("aria-label", `Theme: ${theme}. Press for ${nextTheme(theme)}.`);
    control.title = `Theme: ${theme}`;
    control.dataset.current = theme;
  };
  control.hidden = false;
  control.addEventListener("click", () => {
    chooseTheme(nextTheme(storedTheme()));
    name();
  });
  name();
}

/** One menu is open at a time; Escape and a click elsewhere close it. */
function bindMenus(): void {
  const close = (except: Element | null): void => {
    for (const menu of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) {
      if (menu !== except) menu.open = false;
    }
  };
  document.addEventListener("click", (event) => {
    // The path of the event: a control in the menu may have been made again since the press.
    const menu = event.composedPath().find((each) => (each as Element).matches?.("details.menu"));
    close((menu as HTMLDetailsElement | undefined) ?? null);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = document.querySelector<HTMLDetailsElement>("details.menu[open]");
    open?.querySelector("summary")?.focus();
    close(null);
  });
}

/** The list of keys is a dialog over the page: closing it keeps the reader's place. */
function bindKeys(): void {
  const list = document.querySelector<HTMLDialogElement>("dialog.keys");
  const opener = document.querySelector<HTMLButtonElement>("button[data-keys]");
  if (!list || !opener) return;
  const open = (): void => list.showModal();
  onKey("?", open);
  opener.addEventListener("click", open);
  opener.hidden = false;
  list.addEventListener("keydown", (event) => {
    if (event.key !== "?") return;
    // Otherwise the same key would open the list again.
    event.stopPropagation();
    list.close();
  });
  list.addEventListener("click", (event) => {
    if (event.target === list) list.close();
  });
}

bindTheme();
bindMenus();
keepMenusOnScreen();
bindKeys();
bindPalette();
formatNumbers();
formatTimes();
bindCopy();
bindTicked();
for (const table of document.querySelectorAll<HTMLTableElement>("table[data-sortable]")) {
  makeSortable(table);
}
