// A comparison, live or frozen. One script for both, so that Chart.js is loaded and cached once.

import { getJson, isAbort, Problem } from "../api/client";
import type { Figures } from "../api/figures";
import { CompareView } from "../compare/compare_view";
import { FilterMenu } from "../compare/filter_menu";
import { NewerRuns } from "../compare/newer_runs";
import { canonical, drawnApart, drawnOver, sameFigures } from "../query/query";
import { optionalSlot } from "../site/dom";

function push(query: string): void {
  history.pushState(null, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
}

/** One fetch for each view, and every view in the address bar. */
class LivePage {
  readonly #view: CompareView;
  readonly #menu: FilterMenu;
  readonly #newer: NewerRuns | null;
  readonly #endpoint: string;
  readonly #startQuery: string;
  /** The template knows the workspace; the address bar need not repeat it in every link. */
  readonly #workspace: string | null;
  #pending: AbortController | null = null;
  /** The query of the figures on the page. */
  #shown: string | null = null;

  constructor(page: HTMLElement) {
    const { apiUrl = "", query = "", everything = "" } = page.dataset;
    const [endpoint = "", initial = ""] = apiUrl.split("?");
    const facets = endpoint.replace(/compare$/, "facets");
    const go = (next: string): void => {
      push(next || everything);
      void this.#load(next);
    };
    this.#endpoint = endpoint;
    this.#startQuery = query;
    this.#workspace = new URLSearchParams(initial).get("workspace");
    this.#menu = new FilterMenu((next) => `${facets}?${this.#apiQuery(next)}`, go);
    optionalSlot(page, "facets")?.replaceChildren(this.#menu.element);
    const readAt = optionalSlot(page, "read-at");
    this.#newer = readAt ? new NewerRuns(readAt, () => void this.#load(this.#here(), true)) : null;
    this.#view = new CompareView(page, { go, frozen: false });
  }

  start(): void {
    addEventListener("popstate", () => void this.#load(this.#here()));
    void this.#load(this.#here());
  }

  #here(): string {
    return canonical(location.search || this.#startQuery);
  }

  #apiQuery(query: string): string {
    const params = new URLSearchParams(query);
    if (this.#workspace && !params.has("workspace")) params.set("workspace", this.#workspace);
    return canonical(params);
  }

  async #load(query: string, again = false): Promise<void> {
    this.#pending?.abort();
    const request = new AbortController();
    this.#pending = request;
    this.#view.preview(query);
    this.#menu.follow(query);
    if (!again && this.#shown !== null && sameFigures(this.#shown, query)) return;
    this.#view.busy(true);
    try {
      await this.#fetch(query, request.signal);
    } catch (error) {
      if (isAbort(error)) return;
      if (!(error instanceof Problem)) throw error;
      this.#view.fail(error.message, error.hint);
    } finally {
      if (this.#pending === request) this.#view.busy(false);
    }
  }

  async #fetch(query: string, signal: AbortSignal): Promise<void> {
    const url = `${this.#endpoint}?${this.#apiQuery(query)}`;
    const figures = (await getJson(url, signal)) as Figures;
    this.#view.show(figures, query);
    this.#newer?.follow(url, figures);
    this.#shown = query;
  }
}

/** The export carries the figures beside its title, hash and sources. */
function figuresOf(body: unknown): Figures {
  const whole = body as { figures?: Figures } & Figures;
  return whole.figures ?? whole;
}

/** The same view over figures that never change again. */
async function startFrozen(page: HTMLElement): Promise<void> {
  const own = (figures: Figures): string => drawnOver(figures.query, location.search);
  let figures: Figures | null = null;
  const go = (query: string): void => {
    if (!figures) return;
    push(drawnApart(figures.query, query));
    view.preview(own(figures));
  };
  const view = new CompareView(page, { go, frozen: true });
  addEventListener("popstate", () => {
    if (figures) view.preview(own(figures));
  });
  view.busy(true);
  try {
    figures = figuresOf(await getJson(page.dataset.figuresUrl ?? ""));
    view.show(figures, own(figures));
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    view.fail(error.message, error.hint);
  } finally {
    view.busy(false);
  }
}

const live = document.querySelector<HTMLElement>("[data-compare]");
const frozen = document.querySelector<HTMLElement>("[data-result-set]");
if (live) new LivePage(live).start();
if (frozen) void startFrozen(frozen);
