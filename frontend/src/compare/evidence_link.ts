// Links to runs and trials. Readers of a shared link who are no members of its workspace get the text
// alone: these pages are not shared with them.
import { h } from "../site/dom";

export function evidenceLink(href: string, ...children: Node[]): HTMLElement {
  const isShut = document.querySelector("[data-result-set]:not([data-is-member])") !== null;
  return isShut ? h("span", {}, ...children) : h("a", { href }, ...children);
}
