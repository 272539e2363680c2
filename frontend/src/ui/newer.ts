// Whether more has been measured since the page was read: asked when the reader comes back to
// the page, never by polling.
import type { Figures } from "../api/figures";
import { getJson, isAbort, Problem } from "../api/http";
import { plural, utc } from "../text/format";
import { button, h } from "./dom";

const AT_LEAST_MS = 30_000;

export class Newer {
  readonly #place: HTMLElement;
  readonly #show: () => void;
  #url = "";
  #runs: ReadonlySet<string> = new Set();
  #readAt = 0;
  #asking = false;

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
    this.#place.replaceChildren(`Read ${utc(new Date().toISOString())}`);
  }

  async #ask(): Promise<void> {
    if (this.#asking || !this.#url || Date.now() - this.#readAt < AT_LEAST_MS) return;
    this.#asking = true;
    try {
      const url = this.#url;
      const figures = (await getJson(url)) as Figures;
      this.#readAt = Date.now();
      const count = figures.runs.filter((run) => !this.#runs.has(run.id)).length;
      if (url === this.#url && count > 0) this.#offer(count);
    } catch (error) {
      // The figures on the page stay true as of when they were read.
      if (!isAbort(error) && !(error instanceof Problem)) throw error;
    } finally {
      this.#asking = false;
    }
  }

  #offer(count: number): void {
    this.#place.replaceChildren(
      h("span", { class: "live-dot", "aria-hidden": "true" }),
      `${plural(count, "newer run")} since. `,
      button({ class: "link" }, this.#show, "Show"),
    );
  }
}
