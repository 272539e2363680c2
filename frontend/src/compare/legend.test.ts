// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { figures } from "../testing/figures";
import { panelled } from "../testing/sample_figures";
import { legend, showLegend } from "./legend";
import { pressAlone, pressSeries, type SeriesChoice } from "./series_choice";

function choice(hidden: readonly string[], highlighted: readonly string[]): SeriesChoice {
  return { hidden: new Set(hidden), highlighted: new Set(highlighted) };
}

function actions(press = vi.fn()) {
  return { press, showAll: vi.fn() };
}

function items(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>(".legend-item")];
}

const all = choice([], ["a", "b"]);

beforeEach(() => {
  document.body.replaceChildren();
  delete document.body.dataset.lines;
});

describe("legend", () => {
  it("is buttons that tell whether their series is drawn", () => {
    showLegend(document.body, figures(), choice(["b"], ["a"]), actions());
    expect(items().map((item) => item.getAttribute("aria-pressed"))).toEqual(["true", "false"]);
    expect(items().map((item) => item.title)).toEqual([
      expect.stringMatching(/^Hide\./),
      expect.stringMatching(/^Show\./),
    ]);
  });

  it("tells a press from one that shows the series alone", () => {
    const press = vi.fn();
    showLegend(document.body, figures(), all, actions(press));
    const click = (target: Element | undefined, how: MouseEventInit): void => {
      target?.dispatchEvent(new MouseEvent("click", { bubbles: true, ...how }));
    };
    const [a, b] = items();
    a?.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", altKey: true }));
    expect(press.mock.lastCall).toEqual([["a"], true]);
    press.mockClear();
    click(a, { detail: 1, altKey: true });
    click(b, { detail: 1 });
    // The page has moved under the pointer.
    click(a, { detail: 2 });
    click(a, { detail: 1 });
    expect(press.mock.calls).toEqual([
      [["a"], true],
      [["b"], false],
      [["b"], true],
      [["a"], false],
    ]);
  });

  it("is pressed again in place, so that the focus stays", () => {
    showLegend(document.body, figures(), all, actions());
    const before = items();
    showLegend(document.body, figures(), choice(["b"], ["a"]), actions());
    expect(items()).toEqual(before);
    expect(before[1]?.getAttribute("aria-pressed")).toBe("false");
  });

  it("names the lines in colour first, and keeps their places when a press changes it", () => {
    const names = (): readonly (string | undefined)[] => items().map((item) => item.dataset.series);
    showLegend(document.body, figures(), choice([], ["b"]), actions());
    expect(names()).toEqual(["b", "a"]);
    showLegend(document.body, figures(), all, actions());
    expect(names()).toEqual(["b", "a"]);
  });

  it("keeps the place of a line that is hidden from the start", () => {
    showLegend(document.body, figures(), choice(["a"], ["b"]), actions());
    expect(items().map((item) => item.dataset.series)).toEqual(["a", "b"]);
  });

  it("offers to show all series while some are hidden", () => {
    const { press, showAll } = actions();
    showLegend(document.body, figures(), all, { press, showAll });
    const button = document.querySelector<HTMLElement>(".legend-all");
    expect(button?.hidden).toBe(true);
    showLegend(document.body, figures(), choice(["b"], ["a"]), { press, showAll });
    expect(button?.hidden).toBe(false);
    button?.click();
    expect(showAll).toHaveBeenCalledOnce();
  });

  it("has one entry for a server in several panels", () => {
    const lines = legend(panelled(), actions()).filter((item) => item.matches(".legend-item"));
    expect(lines.length).toBe(3);
  });
});

describe("a press on a name", () => {
  it("hides a line in colour, and brings it back", () => {
    const hidden = pressSeries(figures(), all, ["b"]);
    expect(hidden).toEqual(choice(["b"], ["a", "b"]));
    expect(pressSeries(figures(), hidden, ["b"])).toEqual(all);
  });

  it("colours a grey line first", () => {
    expect(pressSeries(figures(), choice([], ["a"]), ["b"])).toEqual(choice([], ["a", "b"]));
  });

  it("shows every line instead of none", () => {
    expect(pressSeries(figures(), choice(["a"], ["b"]), ["b"]).hidden).toEqual(new Set());
  });

  it("shows a line alone, and then all again", () => {
    const alone = pressAlone(figures(), choice(["a"], ["b"]), ["a"]);
    expect(alone.hidden).toEqual(new Set(["b"]));
    expect(pressAlone(figures(), alone, ["a"]).hidden).toEqual(new Set());
  });
});
