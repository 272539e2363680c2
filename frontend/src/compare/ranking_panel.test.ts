// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Figures } from "../api/figures";
import { figures } from "../testing/figures";
import { panelled } from "../testing/sample_figures";
import { pressBaseline, rankingPanel } from "./ranking_panel";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("ranking", () => {
  it("makes the pressed row the baseline", () => {
    const chooseBaseline = vi.fn();
    document.body.append(...rankingPanel(figures(), { chooseBaseline, override: null }));
    const rows = document.querySelectorAll<HTMLButtonElement>("button.rank");
    expect([...rows].map((row) => row.getAttribute("aria-pressed"))).toEqual(["false", "true"]);
    rows[0]?.click();
    expect(chooseBaseline).toHaveBeenCalledWith("a");
  });

  it("marks the chosen baseline before its ratios have come", () => {
    const actions = { chooseBaseline: vi.fn(), override: null };
    document.body.replaceChildren(...rankingPanel(figures(), actions));
    const rows = [...document.querySelectorAll<HTMLElement>("button.rank")];
    const other = rows.find((row) => row.getAttribute("aria-pressed") === "false");
    pressBaseline(document.body, "gone");
    expect(document.querySelector(".is-old")).toBeNull();
    pressBaseline(document.body, other?.dataset.series ?? "");
    const pressed = rows.filter((row) => row.getAttribute("aria-pressed") === "true");
    expect(pressed).toEqual([other]);
    expect(document.querySelector("ol.is-old")).not.toBeNull();
  });

  it("has no places for one series, but its figures", () => {
    const { series, ...rest } = figures();
    const alone = { ...rest, series: series.slice(0, 1) };
    document.body.append(...rankingPanel(alone, { chooseBaseline: null, override: null }));
    expect(document.querySelector(".rank")).toBeNull();
    expect(document.querySelector("h2")?.textContent).toBe("Figures at 64 connections");
    expect(document.querySelector("dl")?.textContent).toContain(
      "Throughput64,000 req/s 60,800 req/s to 67,200 req/s",
    );
    expect(document.body.textContent).toContain("A ranking needs two series.");
    expect(document.body.textContent).not.toContain("its place");
  });

  it("says how what lies on the axis is ranked", () => {
    const { series, ...rest } = figures();
    const x = { field: "server", label: "Server", kind: "category", values: ["a", "b"] } as const;
    const alone = { ...rest, x, series: series.slice(0, 1) };
    document.body.append(...rankingPanel(alone, { chooseBaseline: null, override: null }));
    expect(document.body.textContent).toContain(
      "Each server has a place on the axis. To rank them, choose another axis under Customise.",
    );
  });

  it("leaves two versions to the sentence that compares them", () => {
    const { series, ...rest } = figures();
    const x = { field: "version", label: "Version", kind: "category", values: ["1", "2"] } as const;
    const alone = { ...rest, x, series: series.slice(0, 1) };
    document.body.append(...rankingPanel(alone, { chooseBaseline: null, override: null }));
    expect(document.body.textContent).toContain("compares the two versions");
    expect(document.body.textContent).not.toContain("choose another axis");
  });

  it("says why there is none", () => {
    const none = figures({
      ranking: null,
      outcome: { status: "not_comparable", differing: ["cpu"], reasons: ["the CPU differs"] },
    });
    document.body.append(...rankingPanel(none, { chooseBaseline: null, override: null }));
    expect(document.body.textContent).toContain("Not ranked");
    expect(document.body.textContent).toContain("the CPU differs");
  });

  it("says the first three reasons, and where the others are", () => {
    const reasons = ["one", "two", "three", "four", "five"];
    const outcome = { status: "not_comparable", differing: ["cpu"], reasons } as const;
    const none = figures({ ranking: null, outcome });
    document.body.append(...rankingPanel(none, { chooseBaseline: null, override: null }));
    const items = [...document.querySelectorAll(".reasons li")].map((item) => item.textContent);
    expect(items).toEqual(["one", "two", "three", "and 2 more, under Checks"]);
  });

  it("ranks the incomparable only on the reader's word, and says so after", () => {
    const unlike = { status: "not_comparable", differing: ["cpu"], reasons: [] } as const;
    const override = vi.fn();
    const actions = { chooseBaseline: null, override };
    document.body.append(...rankingPanel(figures({ ranking: null, outcome: unlike }), actions));
    document.querySelector<HTMLElement>("[data-control=override]")?.click();
    expect(override).toHaveBeenLastCalledWith(true);
    const ranked = figures({ outcome: { ...unlike, overridden: true } });
    document.body.replaceChildren(...rankingPanel(ranked, actions));
    expect(document.body.textContent).toContain("Overridden");
    document.querySelector<HTMLElement>(".overridden button")?.click();
    expect(override).toHaveBeenLastCalledWith(false);
  });

  it("remarks once that the size of a difference is uncertain", () => {
    const why = "beyond noise, size uncertain";
    const { ranking } = figures();
    const [first, second] = ranking?.rows ?? [];
    if (!ranking || !first?.ratio || !second) throw new Error("two rows");
    const ratio = { ...first.ratio, verdict: "size_uncertain", why } as const;
    const data = figures({ ranking: { ...ranking, rows: [{ ...first, ratio }, second] } });
    const actions = { chooseBaseline: null, override: null };
    document.body.append(...rankingPanel(data, actions));
    const remarks = [...document.querySelectorAll(".remark")].map((one) => one.textContent);
    expect(remarks).toEqual([why]);
  });

  it("greys what does not keep the limit, with its reason", () => {
    const { ranking } = figures();
    const [first, second] = ranking?.rows ?? [];
    if (!ranking || !first || !second) throw new Error("two rows");
    const rows = [first, { ...second, tier: null, over_limit: "p99 71 ms > 50 ms" }];
    const data = figures({ ranking: { ...ranking, rows } });
    document.body.append(...rankingPanel(data, { chooseBaseline: null, override: null }));
    const over = document.querySelectorAll("li.is-over");
    expect(over.length).toBe(1);
    expect(over[0]?.querySelector(".remark")?.textContent).toBe("p99 71 ms > 50 ms");
  });

  it("marks a p99 that may be on the other side of the limit, kept or not", () => {
    const { ranking } = figures();
    const [first, second] = ranking?.rows ?? [];
    if (!ranking || !first?.ratio || !second) throw new Error("two rows");
    const kept = "p99 may be over 20 ms: 19.3 ms [17.9, 20.8]";
    const over = "p99 may be under 20 ms: 20.3 ms [19, 21.7]";
    const ratio = { ...first.ratio, verdict: "inconclusive", finds_from: 0.06 } as const;
    const rows = [
      { ...first, ratio, limit_doubt: kept },
      { ...second, tier: null, over_limit: "p99 20.3 ms > 20 ms", limit_doubt: over },
    ];
    const data = figures({ ranking: { ...ranking, rows } });
    document.body.append(...rankingPanel(data, { chooseBaseline: null, override: null }));
    const remarks = [...document.querySelectorAll(".remark")].map((one) => one.textContent);
    const found = "too noisy to call: a difference of 6 % or more would have been found";
    expect(remarks).toEqual([`${kept}; ${found}`, over]);
    expect(document.querySelectorAll("li.is-over").length).toBe(1);
  });

  it("says which differences noise would not have hidden, once for all rows", () => {
    const { ranking } = figures();
    const [first, base] = ranking?.rows ?? [];
    if (!ranking || !first?.ratio || !base) throw new Error("two rows");
    const { ratio: decided } = first;
    const noisy = (finds_from: number) => ({
      ...first,
      ratio: { ...decided, verdict: "inconclusive", why: "the interval includes 1×", finds_from },
    });
    const rows = [noisy(0.061), noisy(0.12), noisy(0.08), base] as typeof ranking.rows;
    const data = figures({ ranking: { ...ranking, rows } });
    document.body.append(...rankingPanel(data, { chooseBaseline: null, override: null }));
    expect(document.querySelector(".remark")).toBeNull();
    expect(document.body.textContent).toContain(
      "All other series: too noisy to call; a difference of 12 % or more would have been found.",
    );
  });

  it("says once, above the rows, what all but the baseline remark", () => {
    const { ranking } = figures();
    const [first, base] = ranking?.rows ?? [];
    if (!ranking || !first?.ratio || !base) throw new Error("two rows");
    const why = "too few trials for an interval";
    const ratio = { ...first.ratio, verdict: "inconclusive", low: null, high: null, why } as const;
    const unsure = { ...first, ratio };
    const actions = { chooseBaseline: null, override: null };
    const shown = (rows: readonly unknown[]): string[] => {
      const data = figures({ ranking: { ...ranking, rows } as typeof ranking });
      document.body.replaceChildren(...rankingPanel(data, actions));
      return [...document.querySelectorAll(".remark")].map((one) => one.textContent ?? "");
    };
    expect(shown([unsure, unsure, base])).toEqual([why, why]);
    expect(shown([unsure, unsure, unsure, base])).toEqual([]);
    expect(document.body.textContent).toContain(`All other series: ${why}.`);
    const noisy = { ...first, ratio: { ...first.ratio, verdict: "inconclusive", why: "noise" } };
    expect(shown([unsure, unsure, unsure, noisy, base])).toEqual(["too noisy to call: noise"]);
    expect(document.body.textContent).toContain(`Series without a note below: ${why}.`);
    const decided = { ...first, ratio: { ...first.ratio, verdict: "improved", why: "" } };
    expect(shown([unsure, unsure, unsure, decided, base])).toEqual([why, why, why]);
  });

  it("joins neighbours that cannot be told apart", () => {
    const { ranking } = figures();
    const [row] = ranking?.rows ?? [];
    if (!ranking || !row) throw new Error("a row");
    const rows = ["1", "2–3", "2–3"].map((tier) => ({ ...row, tier }));
    const data = figures({ ranking: { ...ranking, rows } });
    document.body.append(...rankingPanel(data, { chooseBaseline: null, override: null }));
    const tied = [...document.querySelectorAll("li")].map((item) => item.className);
    expect(tied).toEqual(["", "is-tied", "is-tied"]);
  });

  it("shows where an interval goes on beyond the axis", () => {
    const [first, ...others] = figures().series;
    if (!first) throw new Error("a series");
    const points = first.points.map((each) => {
      const { throughput } = each.metrics;
      return { ...each, metrics: { ...each.metrics, throughput: { ...throughput, high: 1e9 } } };
    });
    const data = figures({ series: [{ ...first, points }, ...others] } as Partial<Figures>);
    document.body.append(...rankingPanel(data, { chooseBaseline: null, override: null }));
    expect(document.querySelectorAll(".beyond").length).toBe(1);
    expect(document.body.textContent).toContain("Arrow: the interval goes on beyond the axis.");
  });

  it("stands once for each panel", () => {
    const actions = { chooseBaseline: null, override: null };
    document.body.append(...rankingPanel(panelled(), actions));
    expect([...document.querySelectorAll("h2")].map((one) => one.textContent)).toEqual([
      "hello 13 B",
      "static 64 KiB",
    ]);
    expect(document.querySelectorAll(".rank").length).toBe(6);
  });

  it("says that the headline has another interval only where it may be without the baseline", () => {
    const { ranking } = figures();
    const [first, second] = ranking?.rows ?? [];
    if (!ranking || !first || !second) throw new Error("two rows");
    const third = { ...second, series: "c", label: "c" };
    const said = ["a", "b", "c"].map((baseline) => {
      const data = figures({ ranking: { ...ranking, baseline, rows: [first, second, third] } });
      document.body.replaceChildren(
        ...rankingPanel(data, { chooseBaseline: null, override: null }),
      );
      return document.querySelector(".rank-base")?.textContent?.includes("holds for all pairs");
    });
    expect(said).toEqual([false, false, true]);
  });

  it("says nothing of an interval of the headline where no row has one", () => {
    const { ranking } = figures();
    const [first, second] = ranking?.rows ?? [];
    if (!ranking || !first?.ratio || !second) throw new Error("two rows with a ratio");
    const single = { ...first, ratio: { ...first.ratio, low: null, high: null } };
    const rows = [single, { ...single, series: "c", label: "c" }, second];
    const data = figures({ ranking: { ...ranking, baseline: second.series, rows } });
    document.body.replaceChildren(...rankingPanel(data, { chooseBaseline: null, override: null }));
    const text = document.querySelector(".rank-base")?.textContent;
    expect(text).toMatch(/The headline compares two other series\.$/);
  });

  it("names the series that the ratios are to, where there are ratios", () => {
    const actions = { chooseBaseline: null, override: null };
    document.body.append(...rankingPanel(figures(), actions));
    const base = figures().ranking?.baseline;
    const label = figures().series.find(({ id }) => id === base)?.label;
    expect(document.querySelector(".rank-base")?.textContent).toBe(`× = ratio to ${label}`);
    const { ranking } = figures();
    if (!ranking) throw new Error("a ranking");
    const without = figures({ ranking: { ...ranking, baseline: null } });
    document.body.replaceChildren(...rankingPanel(without, actions));
    expect(document.querySelector(".rank-base")).toBeNull();
  });

  it("explains a shared place by a place of this list", () => {
    const { ranking } = figures();
    if (!ranking) throw new Error("a ranking");
    const legend = (tiers: string[]) => {
      const rows = tiers.map((tier, i) => ({ ...ranking.rows[0], series: `s${i}`, tier }));
      const data = figures({ ranking: { ...ranking, rows } as typeof ranking });
      document.body.replaceChildren(
        ...rankingPanel(data, { chooseBaseline: null, override: null }),
      );
      return [...document.querySelectorAll(".hint")].at(-1)?.textContent;
    };
    expect(legend(["1", "2–3", "2–3"])).toContain("2–3: the place is 2 or 3; the trials do not");
    expect(legend(["1–9", "1–9"])).toContain("1–9: the place is between 1 and 9;");
    expect(legend(["1", "2"])).toMatch(/Number before a name: its place\.$/);
  });

  it("offers no buttons on a frozen page", () => {
    document.body.append(...rankingPanel(figures(), { chooseBaseline: null, override: null }));
    expect(document.querySelectorAll("button, select").length).toBe(0);
  });
});
