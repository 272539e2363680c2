// Offers newer runs and trials. Newer runs are looked for when the reader comes back to the page;
// runs that go on are asked for their trials every few seconds.

import { getJson, isAbort, Problem } from "../api/client";
import type { Figures } from "../api/figures";
import { isRunning, progressUrl, readProgress } from "../api/progress";
import { button, h } from "../site/dom";
import { keepFocus } from "../site/focus";
import { plural, utc } from "../text/format";

const AT_LEAST_MS = 30_000;
const LIVE_MS = 4_000;
// More live runs than these are looked for when the reader comes back.
const MOST_LIVE = 3;

export class NewerRuns {
  readonly #place: HTMLElement;
  readonly #show: () => void;
  #url = "";
  #runs: ReadonlySet<string> = new Set();
  #readAt = 0;
  #asking = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(place: HTMLElement, show: () => void) {
    this.#place = place;
    this.#show = show;
    document.addEventListener("visibilitychange", () => {
      if (document.visibilityState === "visible") void this.#ask();
    });
  }

  follow(url: string, figures: Figures): void {
    this.#url = url;
    this.#runs = new Set(figures.runs.map((run) => run.id));
    this.#readAt = Date.now();
    this.#say(`Read ${utc(new Date().toISOString())}`);
    clearTimeout(this.#timer);
    const open = figures.runs.filter((run) => run.open).slice(0, MOST_LIVE);
    if (open.length > 0) this.#watch(open.map((run) => progressUrl(run.id)));
  }

  /** Trials of runs that go on. The first answers count as shown, give or take one trial. */
  #watch(urls: readonly string[], shown: number | null = null): void {
    this.#timer = setTimeout(
      async () => {
        const answers = document.hidden ? null : await this.#recorded(urls);
        if (answers && shown !== null && answers.trials > shown) {
          this.#offer(plural(answers.trials - shown, "new trial"));
        }
        const goesOnStill = answers === null || answers.goesOn;
        if (goesOnStill) this.#watch(urls, shown ?? answers?.trials ?? null);
      },
      shown === null ? 0 : LIVE_MS,
    );
  }

  async #recorded(urls: readonly string[]): Promise<{ trials: number; goesOn: boolean } | null> {
    try {
      const answers = await Promise.all(urls.map(readProgress));
      const trials = answers.reduce((sum, progress) => sum + progress.trials_recorded, 0);
      return { trials, goesOn: answers.some(isRunning) };
    } catch (error) {
      if (!isAbort(error) && !(error instanceof Problem)) throw error;
      return null;
    }
  }

  async #ask(): Promise<void> {
    if (this.#asking || !this.#url || Date.now() - this.#readAt < AT_LEAST_MS) return;
    this.#asking = true;
    try {
      const url = this.#url;
      const figures = (await getJson(url)) as Figures;
      this.#readAt = Date.now();
      const count = figures.runs.filter((run) => !this.#runs.has(run.id)).length;
      if (url === this.#url && count > 0) this.#offer(`${plural(count, "newer run")} since`);
    } catch (error) {
      // The page keeps its figures, which were true when they were read.
      if (!isAbort(error) && !(error instanceof Problem)) throw error;
    } finally {
      this.#asking = false;
    }
  }

  #offer(news: string): void {
    this.#say(
      h("span", { class: "live-dot", "aria-hidden": "true" }),
      `${news}. `,
      button({ class: "link" }, this.#show, "Show"),
    );
  }

  #say(...what: (Node | string)[]): void {
    keepFocus(this.#place, () => this.#place.replaceChildren(...what));
  }
}
