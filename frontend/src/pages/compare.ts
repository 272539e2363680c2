// The live comparison: one fetch per view, and every view in the address bar.
import type { Figures } from "../api/figures";
import { getJson, isAbort, Problem } from "../api/http";
import { canonical } from "../state/query";
import { CompareView } from "../ui/compare_view";

const root = document.querySelector<HTMLElement>("[data-compare]");

function start(page: HTMLElement): void {
  const first = page.dataset.apiUrl ?? "/api/v1/compare";
  const [endpoint = "", initial = ""] = first.split("?");
  // The template knows the workspace; the address bar need not repeat it in every link.
  const fixed = new URLSearchParams(initial).get("workspace");
  let pending: AbortController | null = null;

  const apiQuery = (query: string): string => {
    const params = new URLSearchParams(query);
    if (fixed && !params.has("workspace")) params.set("workspace", fixed);
    return canonical(params);
  };

  const load = async (query: string): Promise<void> => {
    pending?.abort();
    const mine = new AbortController();
    pending = mine;
    view.busy(true);
    view.preview(query);
    try {
      const figures = await getJson(`${endpoint}?${apiQuery(query)}`, mine.signal);
      view.show(figures as Figures, query);
    } catch (error) {
      if (isAbort(error)) return;
      if (error instanceof Problem) view.fail(error.message, error.hint);
      else throw error;
    } finally {
      if (pending === mine) view.busy(false);
    }
  };

  const go = (query: string): void => {
    history.pushState(null, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
    void load(query);
  };

  const view = new CompareView(page, { go, frozen: false });
  const here = (): string => canonical(location.search || page.dataset.query || "");
  addEventListener("popstate", () => void load(here()));
  void load(here());
}

if (root) start(root);
