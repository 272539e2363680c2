// The page of a run that goes on: asks for its progress, shows it, and adds new trials.
//
//   <section data-live="/api/v1/runs/…/progress" data-recorded="3" data-state="running">
//     <… data-slot="live-state | live-count | live-bar | live-now | live-left">
//   <tbody data-grows="trials"> <tr id="…">   gets the elements whose ids it does not have yet
//   <div data-fresh="checks">                 is replaced whole, unless the reader is in it
import { isAbort, Problem } from "../api/client";
import { type Current, isRunning, type Progress, readProgress } from "../api/progress";
import { duration, grouped, plural, single, utc } from "../text/format";
import { pageAt } from "./dom";
import { formatNumbers, formatTimes } from "./enhance";
import { readAgain, watchReader } from "./reading_again";

const ASK_MS = 2_000;
const SLOWEST_MS = 15_000;

export function trialText(trial: Current): string {
  const load =
    trial.rate_rps === null
      ? trial.connections === null
        ? ""
        : plural(trial.connections, "connection")
      : `${single("rate", trial.rate_rps)} offered`;
  const phases = { warmup: "warm-up", search: "search", confirm: "confirmation", measure: "" };
  const phase = phases[trial.phase] || (trial.repeat === null ? "" : `repeat ${trial.repeat}`);
  return [trial.server, trial.workload, load, phase].filter(Boolean).join(" · ");
}

/** Progress in words: the count of trials, the trial that runs now, and the last result. */
export function progressText(progress: Progress): { count: string; now: string; left: string } {
  const { trials_done, trials_planned, current, last } = progress;
  const done = Math.max(trials_done ?? 0, progress.trials_recorded);
  const planned = trials_planned ? ` of ${grouped(trials_planned)}` : "";
  const count = `${grouped(done)}${planned} trials and warm-ups`;
  const now =
    progress.state === "silent"
      ? "The agent stopped reporting: it lost its connection or was stopped. Trials recorded so far are kept."
      : current
        ? `Now: ${trialText(current)}`
        : "";
  const left = [
    progress.seconds_left === null ? "" : `about ${duration(progress.seconds_left)} left`,
    last?.throughput_rps ? `last ${single("rate", last.throughput_rps)}` : "",
    last?.p99_us ? `p99 ${single("time", last.p99_us)}` : "",
    progress.heard_at ? `last report ${utc(progress.heard_at)}` : "",
  ];
  return { count, now, left: left.filter(Boolean).join(" · ") };
}

function capitalised(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function say(root: HTMLElement, progress: Progress): void {
  const texts = progressText(progress);
  const write = (slot: string, text: string): void => {
    const place = root.querySelector(`[data-slot=${slot}]`);
    if (place && place.textContent !== text) place.textContent = text;
  };
  write("run-state", capitalised(progress.state));
  write("live-count", texts.count);
  write("live-now", texts.now);
  write("live-left", texts.left);
  const bar = root.querySelector("progress");
  if (bar && progress.trials_planned) {
    bar.max = progress.trials_planned;
    bar.value = Math.max(progress.trials_done ?? 0, progress.trials_recorded);
  }
}

/** Adds the parts that only the newer page has; false where the pages do not fit together. */
export function addNewParts(here: Document, newer: Document): boolean {
  const isPaged = (page: Document): boolean => page.querySelector(".pager") !== null;
  if (isPaged(here) !== isPaged(newer)) return false;
  for (const place of newer.querySelectorAll<HTMLElement>("[data-grows]")) {
    const own = here.querySelector(`[data-grows=${place.dataset.grows}]`);
    if (!own) return false;
    const ids = new Set([...own.children].map((child) => child.id));
    const added = [...place.children].filter((child) => child.id && !ids.has(child.id));
    own.append(...added.map((child) => here.adoptNode(child)));
  }
  for (const place of newer.querySelectorAll<HTMLElement>("[data-fresh]")) {
    const own = here.querySelector(`[data-fresh=${place.dataset.fresh}]`);
    if (own && !own.contains(here.activeElement)) own.replaceWith(here.adoptNode(place));
  }
  formatNumbers(here);
  formatTimes(here);
  return true;
}

export function followRun(root: HTMLElement): void {
  const url = root.dataset.live ?? "";
  let recorded = Number(root.dataset.recorded ?? 0);
  let wait = ASK_MS;
  watchReader();

  const ask = async (): Promise<void> => {
    const progress = await readProgress(url);
    say(root, progress);
    wait = ASK_MS;
    if (!isRunning(progress)) {
      // The whole page once more: it has the checks of all trials, and the events beside them.
      readAgain();
      return;
    }
    if (progress.trials_recorded > recorded) {
      const page = await pageAt(location.pathname + location.search);
      if (page && !addNewParts(document, page)) readAgain();
      recorded = progress.trials_recorded;
    }
  };

  const again = (): void => {
    setTimeout(() => {
      if (document.hidden) return again();
      ask().then(again, (error: unknown) => {
        // The page keeps the last progress, which was true when it came.
        if (!isAbort(error) && !(error instanceof Problem) && !(error instanceof TypeError))
          throw error;
        wait = Math.min(wait * 2, SLOWEST_MS);
        again();
      });
    }, wait);
  };
  again();
}
