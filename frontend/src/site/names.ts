// Names written by users: cut to a readable length, isolated from the direction of the text around
// them, and always set as text.
import { short } from "../text/format";
import { h } from "./dom";

/** `cut`: what is shown of the name, where others stand beside it (text/names.ts). */
export function nameElement(text: string, most = 60, cut = short(text, most)): HTMLElement {
  return h("bdi", { title: cut === text ? null : text }, cut);
}
