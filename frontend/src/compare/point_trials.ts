// The trials behind a point of the main chart, each with a link to its page.
import { isAbort, Problem } from "../api/client";
import { type Figures, fullLabel, type Point, type Series, type X } from "../api/figures";
import { getPointTrials, type PointTrial } from "../api/point_trials";
import { button, h } from "../site/dom";
import { nameElement } from "../site/names";
import { loadPoint, plural, short, single, utc } from "../text/format";

/** A point can have hundreds; the pages of their runs list them all. */
const MOST_SHOWN = 40;

export interface PointTrialsHooks {
  /** Ranks the series at this place; null where that cannot be chosen. */
  readonly rankAt: ((x: X) => void) | null;
  /** Where the focus goes when the list is closed. */
  readonly returnTo: HTMLElement;
}

export class PointTrialList {
  readonly element = h("section", { class: "point-trials", tabindex: -1, hidden: true });
  readonly #endpoint: string;
  readonly #hooks: PointTrialsHooks;
  #request: AbortController | null = null;

  constructor(endpoint: string, hooks: PointTrialsHooks) {
    this.#endpoint = endpoint;
    this.#hooks = hooks;
    this.element.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.close(true);
    });
  }

  /** Shows the trials of a point; nothing where the figures have no such point. */
  async open(figures: Figures, seriesId: string, x: X): Promise<void> {
    const series = figures.series.find(({ id }) => id === seriesId);
    const point = series?.points.find((candidate) => candidate.x === x);
    if (!series || !point) return;
    this.#request?.abort();
    this.#request = new AbortController();
    this.#show(figures, series, point, h("p", { class: "hint" }, "Reading the trials …"));
    this.element.focus({ preventScroll: true });
    try {
      const trials = await getPointTrials(this.#endpoint, point, this.#request.signal);
      this.#show(figures, series, point, trialList(trials));
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      this.#show(figures, series, point, h("p", {}, error.message));
    }
  }

  close(returnsFocus = false): void {
    this.#request?.abort();
    this.element.hidden = true;
    if (returnsFocus) this.#hooks.returnTo.focus({ preventScroll: true });
  }

  #show(figures: Figures, series: Series, point: Point, body: HTMLElement): void {
    const { rankAt } = this.#hooks;
    const place = loadPoint(point.x, figures.x.label);
    const title = `${short(fullLabel(figures, series), 80)} at ${place}`;
    this.element.setAttribute("aria-label", title);
    this.element.replaceChildren(
      h("h3", {}, nameElement(title, 120)),
      body,
      h(
        "p",
        { class: "actions" },
        rankAt && button({ class: "button" }, () => rankAt(point.x), `Rank at ${place}`),
        button({ class: "button" }, () => this.close(true), "Close"),
      ),
    );
    this.element.hidden = false;
  }
}

function trialList(trials: readonly PointTrial[]): HTMLElement {
  const items = trials
    .slice(0, MOST_SHOWN)
    .map((trial, i) =>
      h("li", {}, h("a", { href: trial.url }, `Trial ${i + 1}`), trialText(trial)),
    );
  const rest = trials.length - items.length;
  const more = rest > 0 && h("li", {}, `and ${plural(rest, "more trial", "more trials")}`);
  return h("ul", { class: "point-trials-list" }, ...items, more);
}

/** " · 52,300 req/s · p99 3.10 ms · 2026-03-02 10:15 UTC": unknown figures are left out. */
function trialText({ throughput, p99_us, error_rate, started_at }: PointTrial): string {
  const texts = [
    throughput !== null && single("rate", throughput),
    p99_us !== null && `p99 ${single("time", p99_us)}`,
    (error_rate ?? 0) > 0 && `${single("ratio", error_rate)} failed`,
    started_at !== null && utc(started_at),
  ];
  return texts.map((text) => (text ? ` · ${text}` : "")).join("");
}
