// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { figures } from "../testing/figures";
import { figuresTable } from "./figures_table";
import { markHidden } from "./hidden_series";
import { rankingPanel } from "./ranking_panel";

it("a series that is not drawn stays in the ranking and the table, marked", () => {
  const actions = { chooseBaseline: vi.fn(), chooseLoad: null, override: null };
  document.body.replaceChildren(...rankingPanel(figures(), actions), ...figuresTable(figures()));
  const rows = (): number => document.querySelectorAll("[data-series]").length;
  const marks = (): (string | undefined)[] =>
    [...document.querySelectorAll(".hidden-mark")].map(
      (mark) => mark.closest<HTMLElement>("[data-series]")?.dataset.series,
    );
  const before = rows();
  markHidden(document.body, new Set(["a"]));
  markHidden(document.body, new Set(["a"]));
  // One row of the ranking, and one of the table for each of its load points.
  expect(marks()).toEqual(["a", "a", "a", "a"]);
  expect(rows()).toBe(before);
  markHidden(document.body, new Set());
  expect(marks()).toEqual([]);
});
