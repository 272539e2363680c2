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

/** One fetch per view, and every view in the address bar. */
function startLive(page: HTMLElement): void {
  const first = page.dataset.apiUrl ?? "/api/v1/compare";
  const [endpoint = "", initial = ""] = first.split("?");
  const facets = page.dataset.facetsUrl?.split("?")[0] ?? endpoint.replace(/compare$/, "facets");
  // The template knows the workspace; the address bar need not repeat it in every link.
  const fixed = new URLSearchParams(initial).get("workspace");
  let pending: AbortController | null = null;
  let shown: string | null = null;

  const apiQuery = (query: string): string => {
    const params = new URLSearchParams(query);
    if (fixed && !params.has("workspace")) params.set("workspace", fixed);
    return canonical(params);
  };

  const load = async (query: string, again = false): Promise<void> => {
    pending?.abort();
    const mine = new AbortController();
    pending = mine;
    view.preview(query);
    menu.follow(query);
    if (!again && shown !== null && sameFigures(shown, query)) return;
    view.busy(true);
    try {
      const url = `${endpoint}?${apiQuery(query)}`;
      const figures = (await getJson(url, mine.signal)) as Figures;
      view.show(figures, query);
      newer?.follow(url, figures);
      shown = query;
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof Problem) view.fail(error.message, error.hint);
      else throw error;
    } finally {
      if (pending === mine) view.busy(false);
    }
  };

  const go = (query: string): void => {
    push(query);
    void load(query);
  };

  const here = (): string => canonical(location.search || page.dataset.query || "");
  const menu = new FilterMenu((query) => `${facets}?${apiQuery(query)}`, go);
  optionalSlot(page, "facets")?.replaceChildren(menu.element);
  const place = optionalSlot(page, "read-at");
  const newer = place ? new NewerRuns(place, () => void load(here(), true)) : null;
  const view = new CompareView(page, { go, frozen: false });
  addEventListener("popstate", () => void load(here()));
  void load(here());
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
if (live) startLive(live);
if (frozen) void startFrozen(frozen);
