// A frozen comparison: the same view over figures that never change again.
import type { Figures } from "../api/figures";
import { getJson, Problem } from "../api/http";
import { canonical } from "../state/query";
import { CompareView } from "../ui/compare_view";

const root = document.querySelector<HTMLElement>("[data-result-set]");

/** The export carries the figures beside its title, hash and sources. */
function figuresOf(body: unknown): Figures {
  const whole = body as { figures?: Figures } & Figures;
  return whole.figures ?? whole;
}

async function start(page: HTMLElement): Promise<void> {
  const here = (): string => canonical(location.search);
  const go = (query: string): void => {
    history.pushState(null, "", `${location.pathname}${query && `?${query}`}${location.hash}`);
    view.preview(query);
  };
  const view = new CompareView(page, { go, frozen: true });
  addEventListener("popstate", () => view.preview(here()));
  view.busy(true);
  try {
    view.show(figuresOf(await getJson(page.dataset.figuresUrl ?? "")), here());
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    view.fail(error.message, error.hint);
  } finally {
    view.busy(false);
  }
}

if (root) void start(root);
