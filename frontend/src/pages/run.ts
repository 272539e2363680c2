import { targetId } from "../site/dom";
import { followRun } from "../site/live_run";
import { startTabs } from "../site/tabs";

const live = document.querySelector<HTMLElement>("[data-live]");
if (live) followRun(live);

// Before anything is opened or scrolled to inside a tab.
const tabs = document.querySelector<HTMLElement>("[data-tabs]");
if (tabs) startTabs(tabs);

// The trials of a load point, below its row. The table may be replaced while a run goes on.
document.addEventListener("click", (event) => {
  const control = (event.target as Element).closest("[data-open-trials]");
  const isOpen = control?.closest("tbody")?.classList.toggle("is-open");
  control?.setAttribute("aria-expanded", String(isOpen));
});

// A link to one trial or check opens it.
function openTarget(): void {
  const id = targetId();
  const target = id ? document.getElementById(id) : null;
  // Another page of the trials has it: a link from before the run had so many of them.
  const elsewhere = id.startsWith("trial-") && !target && document.querySelector(".pager");
  const asked = `?trial=${encodeURIComponent(id.slice("trial-".length))}`;
  if (elsewhere && location.search !== asked) location.replace(`${asked}#${id}`);
  const details = target?.closest("details") ?? target?.querySelector(":scope > details");
  if (target && details instanceof HTMLDetailsElement) {
    details.open = true;
    target.scrollIntoView({ block: "start" });
  }
}

addEventListener("hashchange", openTarget);
openTarget();

for (const control of document.querySelectorAll<HTMLButtonElement>("button[data-open-all]")) {
  control.addEventListener("click", () => {
    const trials = document.querySelectorAll<HTMLDetailsElement>("details.trial");
    const open = [...trials].some((trial) => !trial.open);
    for (const trial of trials) trial.open = open;
    control.textContent = open ? "Close all" : "Open all";
  });
}
