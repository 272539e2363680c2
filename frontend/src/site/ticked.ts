// Lists with checkboxes: how many are ticked, and which buttons fit that number. Without this script
// the server says what is missing.
import { optionalSlot } from "./dom";

function update(list: HTMLElement): void {
  const count = list.querySelectorAll("input[type=checkbox][name=run]:checked").length;
  const status = optionalSlot(list, "ticked");
  if (status) {
    status.textContent = count === 0 ? "Tick two runs to compare them." : `${count} ticked`;
  }
  for (const action of list.querySelectorAll<HTMLElement>("[data-ticks]")) {
    const wanted = action.dataset.ticks;
    const fits = wanted ? count === Number(wanted) : count > 0;
    if (action instanceof HTMLButtonElement) action.disabled = !fits;
    // A menu cannot be disabled.
    else action.inert = !fits;
  }
}

export function bindTicked(): void {
  for (const list of document.querySelectorAll<HTMLElement>("[data-ticked]")) {
    list.addEventListener("change", () => update(list));
    // A browser that goes back to the page ticks the boxes again.
    addEventListener("pageshow", () => update(list));
    update(list);
  }
}
