// @vitest-environment happy-dom
import { describe, expect, it, vi } from "vitest";
import type { Figures } from "../api/figures";
import { chosenOf, drawnScene } from "../charts/drawn";
import { seriesSlots } from "../charts/style/series_style";
import { h } from "../site/dom";
import { figures, series } from "../testing/figures";
import { Board } from "./board";
import { rankingPanel } from "./ranking_panel";

function board(count: number): Figures {
  const many = Array.from({ length: count }, (_, i) => series(`s${i}`, i, []));
  const { ranking } = figures();
  const [row] = ranking?.rows ?? [];
  if (!ranking || !row) throw new Error("a row");
  const rows = many.map(({ id, label }) => ({ ...row, series: id, label }));
  return figures({ series: many, ranking: { ...ranking, rows } });
}

function page(): HTMLElement {
  return h(
    "div",
    { "data-slot": "stage" },
    h("div", { "data-slot": "rank-search", hidden: true }),
    h("div", { "data-slot": "ranking" }),
  );
}

function shownBoard(count: number, choose = vi.fn()): HTMLElement {
  const root = h("main", {}, page());
  const data = board(count);
  root
    .querySelector("[data-slot=ranking]")
    ?.append(...rankingPanel(data, { chooseBaseline: null, override: null }));
  new Board(root, choose).show(data, new Set(["s0", "s1"]));
  return root;
}

describe("a board", () => {
  it("begins with more than twelve series", () => {
    expect(shownBoard(12).querySelector<HTMLElement>("[data-slot=rank-search]")?.hidden).toBe(true);
    const root = shownBoard(13);
    expect(root.querySelector<HTMLElement>("[data-slot=rank-search]")?.hidden).toBe(false);
    expect(root.querySelector("[role=status]")?.textContent).toBe("13 series, 2 in the chart");
  });

  it("lists the series beyond the best, without a tick", () => {
    const data = board(13);
    const { ranking } = data;
    const [row] = ranking?.rows ?? [];
    if (!ranking || !row) throw new Error("a row");
    const more = { ...row, series: "more", label: "one more", tier: null, ratio: null };
    const whole = { ...data, ranking: { ...ranking, beyond: [more] } };
    const root = h("main", {}, page());
    root
      .querySelector("[data-slot=ranking]")
      ?.append(...rankingPanel(whole, { chooseBaseline: null, override: null }));
    new Board(root, vi.fn()).show(whole, new Set(["s0"]));
    expect(root.querySelectorAll(".rank").length).toBe(14);
    expect(root.querySelectorAll(".rank-tick").length).toBe(13);
    expect(root.querySelector("[role=status]")?.textContent).toBe("14 series, 1 in the chart");
  });

  it("shows the rows with every word of the search", () => {
    const root = shownBoard(40);
    const field = root.querySelector<HTMLInputElement>("input[type=search]");
    if (!field) throw new Error("a field");
    field.value = "SERVER s3";
    field.dispatchEvent(new Event("input"));
    const names = [...root.querySelectorAll<HTMLElement>("li:not([hidden]) .name")];
    expect(names.length).toBe(11);
    expect(root.querySelector("[role=status]")?.textContent).toContain("11 of 40 series");
  });

  it("draws the ticked series, in the colours that they have among all", () => {
    const choose = vi.fn();
    const root = document.body.appendChild(shownBoard(13, choose));
    const ticks = [...root.querySelectorAll<HTMLInputElement>(".rank-tick")];
    expect(ticks.filter((tick) => tick.checked).length).toBe(2);
    ticks[5]?.click();
    expect(choose).toHaveBeenCalledWith("s5");
    const data = board(13);
    const scene = { figures: data, query: "", metric: "throughput", highlighted: new Set(["s5"]) };
    const drawn = drawnScene(scene).figures;
    expect(drawn.series.map(({ id }) => id)).toEqual(["s5"]);
    expect(seriesSlots(drawn).get("s5")).toBe(seriesSlots(data).get("s5"));
    expect(chosenOf(data, new Set(["gone"])).series.length).toBe(13);
    const few = { ...scene, figures: board(12) };
    expect(drawnScene(few).figures.series.length).toBe(12);
  });
});
