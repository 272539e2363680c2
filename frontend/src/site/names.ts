// Names written by users: cut to a readable length, isolated from the direction of the text around
// them, and always set as text.
import { short } from "../text/format";
import { h } from "./dom";

export function nameElement(text: string, most = 60): HTMLElement {
  const cut = short(text, most);
  return h("bdi", { title: cut === text ? null : text }, cut);
}
