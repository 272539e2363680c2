// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { figures } from "../testing/figures";
import { PointTrialList } from "./point_trials";

const trial = {
  id: "t",
  run: "r",
  started_at: "2026-03-02T10:15:00Z",
  throughput: 620,
  p99_us: 1_150_000,
  error_rate: 0,
  url: "/t/t",
};
const rankAt = vi.fn();
let list: PointTrialList;
let chart: HTMLElement;

function answer(body: unknown, status = 200): void {
  vi.stubGlobal(
    "fetch",
    vi.fn(async () => new Response(JSON.stringify(body), { status })),
  );
}

beforeEach(() => {
  rankAt.mockClear();
  chart = document.createElement("div");
  chart.tabIndex = 0;
  list = new PointTrialList("/api/v1/trials", { rankAt, returnTo: chart });
  document.body.replaceChildren(chart, list.element);
});

describe("the trials of a point", () => {
  it("are listed with their figures and links, under the name of the point", async () => {
    answer({ trials: [trial, { ...trial, p99_us: null }] });
    await list.open(figures(), "a", 64);
    expect(fetch).toHaveBeenCalledWith("/api/v1/trials?cell=cell-64", expect.anything());
    expect(list.element.querySelector("h3")?.textContent).toBe("server a at 64 connections");
    expect([...list.element.querySelectorAll("li")].map((item) => item.textContent)).toEqual([
      "Trial 1 · 620 req/s · p99 1.15 s · 2026-03-02 10:15 UTC",
      "Trial 2 · 620 req/s · 2026-03-02 10:15 UTC",
    ]);
    expect(list.element.querySelector("a")?.getAttribute("href")).toBe("/t/t");
    expect(document.activeElement).toBe(list.element);
  });

  it("close by Escape, and the focus returns to the chart", async () => {
    answer({ trials: [trial] });
    await list.open(figures(), "a", 64);
    list.element.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape" }));
    expect(list.element.hidden).toBe(true);
    expect(document.activeElement).toBe(chart);
  });

  it("offer to rank at their load", async () => {
    answer({ trials: [trial] });
    await list.open(figures(), "a", 64);
    list.element.querySelector<HTMLElement>("button")?.click();
    expect(rankAt).toHaveBeenCalledWith(64);
  });

  it("say why they cannot be shown", async () => {
    answer({ detail: "Nothing has this id." }, 404);
    await list.open(figures(), "a", 64);
    expect(list.element.textContent).toContain("Nothing has this id.");
  });

  it("are of a point that exists", async () => {
    answer({ trials: [trial] });
    await list.open(figures(), "a", 7);
    expect(list.element.hidden).toBe(true);
    expect(fetch).not.toHaveBeenCalled();
  });
});
