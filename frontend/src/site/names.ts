// Names written by users: cut to a readable length, isolated from the direction of the text around
// them, and always set as text.
import { short } from "../text/format";
import { h } from "./dom";

/** `cut`: what is shown of the name, where others stand beside it (text/names.ts). */
export function nameElement(text: string, most = 60, cut = short(text, most)): HTMLElement {
  return h("bdi", { title: cut === text ? null : text }, ...breakable(cut));
}

/** A setting such as worker_class=gevent breaks at its sign, and not inside a word. */
function breakable(text: string): (string | HTMLElement)[] {
  return text.split(/(?<==)(?=.)/).flatMap((part, i) => (i > 0 ? [h("wbr"), part] : [part]));
}
