// The places of the card above a comparison, as the template has them.
import { h } from "../site/dom";

export function makeCard(): HTMLElement {
  return h(
    "header",
    {},
    h("h1", { "data-slot": "finding" }),
    h(
      "details",
      { "data-slot": "trust" },
      h("summary", { "data-slot": "trust-level" }),
      h("div", { "data-slot": "trust-body" }),
    ),
    h("p", { "data-slot": "margin" }),
    h("p", { "data-slot": "aside" }),
  );
}
