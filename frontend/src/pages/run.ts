import { targetId } from "../site/dom";
import { followRun } from "../site/live_run";

const live = document.querySelector<HTMLElement>("[data-live]");
if (live) followRun(live);

// A link to one trial or check opens it.
function openTarget(): void {
  const id = targetId();
  const target = id ? document.getElementById(id) : null;
  const details = target?.closest("details") ?? target?.querySelector("details");
  if (target && details) {
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
