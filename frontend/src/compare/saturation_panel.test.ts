// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { sample } from "../testing/sample_figures";
import { saturationPanel } from "./saturation_panel";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("the panel of saturation points", () => {
  it("keeps the reason behind a word", () => {
    const data = sample({ series: 1 });
    const why = "Above this load, throughput does not rise; nothing was measured between 8 and 64";
    const knees = [{ series: data.series[0]?.id ?? "", x: 8, throughput: 41_000, why }];
    document.body.append(...saturationPanel({ ...data, knees, capacity: null }));
    const item = document.querySelector("li");
    expect(item?.querySelector("span span, span")?.textContent).not.toContain("Above");
    expect(item?.querySelector("details > p")?.textContent).toBe(why);
    expect(item?.querySelector("details")?.open).toBe(false);
  });

  it("says once why no series has a saturation point", () => {
    const data = sample({ series: 3 });
    const unknown = { x: null, throughput: null, why: "Needs 3 loads" };
    const knees = data.series.map(({ id }) => ({ series: id, ...unknown }));
    document.body.append(...saturationPanel({ ...data, knees, capacity: null }));
    expect(document.body.textContent).toBe("Saturation pointAll 3 series: Needs 3 loads.");
    const others = knees.map((row, i) => (i ? row : { ...row, why: "Too noisy to say" }));
    document.body.replaceChildren(...saturationPanel({ ...data, knees: others, capacity: null }));
    expect(document.querySelectorAll("li")).toHaveLength(3);
  });

  it("says saturation points and capacities in sentences, unknown ones with their reason", () => {
    const data = sample({ series: 2 });
    const [first, second] = data.series;
    const capacity = { x: 64, throughput: 41_000, why: null };
    const rows = [
      { series: first?.id ?? "", ...capacity, low: 8, high: 1024 },
      { series: first?.id ?? "", ...capacity, low: 64, high: 64 },
      { series: first?.id ?? "", ...capacity, low: null, high: 64 },
      { series: second?.id ?? "", x: null, throughput: null, low: null, high: null, why: "none" },
    ];
    document.body.append(...saturationPanel({ ...data, capacity: { limit_us: 5_000, rows } }));
    const texts = [...document.querySelectorAll("li")].map((one) => one.textContent);
    expect(document.body.textContent).toContain("p99 under 5.00 ms");
    expect(texts[0]).toMatch(/: 64 connections, certain up to 8, possibly 1024, 41,000 req\/s$/);
    expect(texts[1]).toMatch(/: 64 connections, 41,000 req\/s$/);
    expect(texts[2]).toMatch(/: 64 connections, not certain at any load, 41,000 req\/s$/);
    expect(texts[3]).toContain(": none");
    expect(texts[4]).toContain("throughput still grows");
  });
});
