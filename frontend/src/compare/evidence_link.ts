// Links to runs and trials. Readers of a shared link who are no members of its workspace get the text
// alone: these pages are not shared with them.
import { h } from "../site/dom";

export function runPath(id: string): string {
  return `/r/${encodeURIComponent(id)}`;
}

export function runLink(id: string, href = runPath(id)): HTMLElement {
  return evidenceLink(id, href);
}

export function trialLink(id: string): HTMLElement {
  return evidenceLink(id, `/t/${encodeURIComponent(id)}`);
}

function evidenceLink(id: string, href: string): HTMLElement {
  const isShut = document.querySelector("[data-result-set]:not([data-is-member])") !== null;
  const text = h("code", {}, id.slice(0, 8));
  return isShut ? h("span", {}, text) : h("a", { href }, text);
}
