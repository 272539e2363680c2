// @vitest-environment happy-dom
import { expect, it, vi } from "vitest";
import { figures } from "../testing/figures";
import { figuresTable } from "./figures_table";
import { rankingPanel } from "./ranking_panel";
import { greyRows, markHidden } from "./row_marks";
import { saturationPanel } from "./saturation_panel";

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

it("a series that is grey in the chart is grey in the ranking, the sentences and the table", () => {
  const knees = ["a", "b"].map((id) => ({ series: id, x: 8, throughput: 8_000, why: "" }));
  const data = figures({ knees });
  const actions = { chooseBaseline: vi.fn(), override: null };
  document.body.replaceChildren(
    ...rankingPanel(data, actions),
    ...saturationPanel(data),
    ...figuresTable(data),
  );
  const grey = (tag: string): (string | undefined)[] =>
    [...document.querySelectorAll<HTMLElement>(`${tag}.is-grey`)].map((row) => row.dataset.series);
  greyRows(document.body, new Set(["a"]));
  expect([grey(".rank"), grey("li"), grey("tr")]).toEqual([["b"], ["b"], ["b", "b"]]);
  greyRows(document.body, new Set(["a", "b"]));
  expect(document.querySelector(".is-grey")).toBeNull();
});
