// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { figures, series } from "../testing/figures";
import { showLegend } from "./legend";
import { foldLegend } from "./legend_fold";

const ROOM = 90;
const LINE = 10;

/** A legend whose lines are ten pixels high, with room for nine of them. */
function legendOf(count: number, highlighted: readonly string[]): HTMLElement {
  const place = document.createElement("div");
  document.body.replaceChildren(place);
  const isShown = (child: Element): boolean =>
    !child.classList.contains("is-folded") && !(child as HTMLElement).hidden;
  Object.defineProperties(place, {
    clientHeight: {
      configurable: true,
      get: () => (place.classList.contains("is-open") ? 900 : ROOM),
    },
    scrollHeight: { get: () => [...place.children].filter(isShown).length * LINE },
  });
  const many = figures({
    series: Array.from({ length: count }, (_, i) => series(`s${i}`, i, [])),
  });
  const choice = { hidden: new Set<string>(), highlighted: new Set(highlighted) };
  showLegend(place, many, choice, { press: vi.fn(), showAll: vi.fn() });
  return place;
}

function shown(place: HTMLElement): readonly (string | undefined)[] {
  const items = place.querySelectorAll<HTMLElement>(".legend-item:not(.is-folded)");
  return [...items].map((item) => item.dataset.series);
}

function more(place: HTMLElement): HTMLButtonElement {
  const button = place.querySelector<HTMLButtonElement>("button.legend-more");
  if (!button) throw new Error("a button");
  return button;
}

beforeEach(() => {
  document.body.replaceChildren();
});

describe("a legend without room for all its lines", () => {
  it("says how many more there are, and shows them on a press", () => {
    const place = legendOf(12, ["s0", "s1"]);
    expect(more(place).hidden).toBe(false);
    expect(more(place).textContent).toBe("Show 4 more");
    expect(more(place).getAttribute("aria-expanded")).toBe("false");
    expect(shown(place)).toHaveLength(8);
    more(place).click();
    expect(shown(place)).toHaveLength(12);
    expect(more(place).textContent).toBe("Show fewer");
    expect((document.activeElement as HTMLElement).dataset.series).toBe("s8");
    expect(more(place).getAttribute("aria-expanded")).toBe("true");
    more(place).click();
    expect(shown(place)).toHaveLength(8);
  });

  it("keeps the lines in colour in sight", () => {
    expect(shown(legendOf(12, ["s0", "s11"]))).toContain("s11");
  });

  it("folds lines that were taken out of the chart before all others", () => {
    const place = legendOf(12, ["s0"]);
    const [first] = place.querySelectorAll<HTMLElement>(".legend-item");
    first?.setAttribute("aria-pressed", "false");
    foldLegend(place);
    expect(shown(place)).not.toContain("s0");
  });

  it("needs no button where all lines fit, nor after the place has grown", () => {
    const place = legendOf(9, ["s0"]);
    expect(more(place).hidden).toBe(true);
    expect(shown(place)).toHaveLength(9);
    const grown = legendOf(12, ["s0"]);
    Object.defineProperty(grown, "clientHeight", { get: () => 900 });
    foldLegend(grown);
    expect(more(grown).hidden).toBe(true);
    expect(shown(grown)).toHaveLength(12);
  });
});
