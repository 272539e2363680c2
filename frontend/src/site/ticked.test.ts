// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { bindTicked } from "./ticked";

const LIST = `
  <div data-ticked>
    <span data-slot="ticked"></span>
    <button data-ticks="2">Compare two</button>
    <button data-ticks="">Delete</button>
    <details data-ticks=""><summary>Label</summary></details>
    <input type="checkbox" name="run"><input type="checkbox" name="run">
    <input type="checkbox" name="run">
  </div>`;

function tick(count: number): { text: string; enabled: boolean[] } {
  document.body.innerHTML = LIST;
  bindTicked();
  const boxes = [...document.querySelectorAll<HTMLInputElement>("input")];
  for (const box of boxes.slice(0, count)) {
    box.checked = true;
    box.dispatchEvent(new Event("change", { bubbles: true }));
  }
  return {
    text: document.querySelector("[data-slot=ticked]")?.textContent ?? "",
    enabled: [
      ...[...document.querySelectorAll("button")].map((button) => !button.disabled),
      !document.querySelector("details")?.inert,
    ],
  };
}

test.each([
  [0, "Tick two runs to compare them.", [false, false, false]],
  [1, "1 ticked", [false, true, true]],
  [2, "2 ticked", [true, true, true]],
  [3, "3 ticked", [false, true, true]],
])("with %i ticked the buttons fit", (count, text, enabled) => {
  expect(tick(count)).toEqual({ text, enabled });
});
