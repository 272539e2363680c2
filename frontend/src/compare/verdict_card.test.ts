// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import type { Figures, Trust } from "../api/figures";
import { makeCard } from "../testing/card";
import { figures } from "../testing/figures";
import { evidenceOf } from "../text/trust";
import { checkList } from "./checks_panel";
import { drawSentence, drawTrust } from "./verdict_card";

function trusted(trust: Trust, over: Partial<Figures> = {}): HTMLElement {
  const card = makeCard();
  drawTrust(card, figures({ answer: { sentence: "Take a", margin: null, trust }, ...over }));
  return card;
}

const chipOf = (card: HTMLElement): string | null | undefined =>
  card.querySelector("[data-slot=trust-level]")?.textContent;

describe("the sentence", () => {
  it("stands with its margin, and a long one is set smaller", () => {
    const card = makeCard();
    drawSentence(card, { sentence: "Take a", margin: "1.6× [1.5, 1.7]" });
    const title = card.querySelector("h1");
    expect(title?.textContent).toBe("Take a");
    expect(title?.className).toBe("");
    expect(card.querySelector("[data-slot=margin]")?.textContent).toBe("1.6× [1.5, 1.7]");
    expect(card.querySelector<HTMLElement>("[data-slot=aside]")?.hidden).toBe(true);
    drawSentence(card, { sentence: "Take a", aside: "Not compared: c." });
    expect(card.querySelector("[data-slot=aside]")?.textContent).toBe("Not compared: c.");
    drawSentence(card, { sentence: "long ".repeat(30), margin: null });
    expect(title?.className).toBe("is-long");
    expect(card.querySelector("[data-slot=margin]")?.textContent).toBe("");
  });
});

describe("the chip", () => {
  it("says each level", () => {
    const levels = ["solid", "care", "noisy", "few_trials", "not_comparable"] as const;
    const texts = levels.map((level) => chipOf(trusted({ level, reasons: [], more: 0 })));
    expect(texts).toEqual([
      "● Solid",
      "▲ Use with care",
      "◆ Too noisy",
      "◇ Too few trials",
      "■ Not comparable",
    ]);
  });

  it("opens the reasons with what to do, and leads to the checks", () => {
    const reasons = [{ text: "One host.", remedy: "Use two.", check: "same-host" }];
    const card = trusted({ level: "care", reasons, more: 0 });
    expect(card.querySelector("li")?.textContent).toBe("One host.Use two.");
    expect(card.querySelector('a[href="#checks"]')?.textContent).toBe("All 2 checks");
  });

  it("counts what the tab of the checks lists, and shows three at once", () => {
    const reasons = ["noise", "kernel", "payload", "keep-alive"].map((text) => ({
      text,
      remedy: "",
      check: null,
    }));
    const check = { text: "one host", remedy: "", check: "same-host" };
    const trust = { level: "care", reasons: [...reasons, check], more: 0 } as const;
    const data = figures({ answer: { sentence: "Take a", margin: null, trust } });
    const card = makeCard();
    drawTrust(card, data);
    expect(card.querySelectorAll("li").length).toBe(3);
    const list = checkList(data);
    expect(list.querySelectorAll("li").length).toBe(6);
    expect(evidenceOf(data).count).toBe(6);
    expect(card.querySelector('a[href="#checks"]')?.textContent).toBe("All 6 checks");
  });

  it("leads out of a frame", () => {
    const card = makeCard();
    drawTrust(card, figures(), "/s/1#tab=checks");
    const link = card.querySelector<HTMLAnchorElement>(".trust-more a");
    expect(link?.getAttribute("href")).toBe("/s/1#tab=checks");
    expect(link?.target).toBe("_blank");
  });

  it("says that nothing speaks against a solid answer", () => {
    const { outcome } = figures();
    const card = trusted(
      { level: "solid", reasons: [], more: 0 },
      { outcome: { ...outcome, intent: "only the server differs" }, checks: [] },
    );
    expect(card.textContent).toContain("only the server differs");
    expect(card.textContent).toContain("No check fired.");
  });

  it("says that a ranking was asked for although nothing can be compared", () => {
    const { outcome } = figures();
    const trust = { level: "not_comparable", reasons: [], more: 0 } as const;
    const card = trusted(trust, { outcome: { ...outcome, overridden: true } });
    expect(chipOf(card)).toBe("■ Not comparable, but ranked anyway");
  });

  it("follows from the comparability of figures that were frozen without an answer", () => {
    const card = makeCard();
    drawTrust(card, figures());
    expect(chipOf(card)).toBe("▲ Use with care");
    expect(card.querySelector("li")?.textContent).toBe("client and server share one host");
  });

  it("is not shown where nothing was measured", () => {
    const card = trusted({ level: "not_comparable", reasons: [], more: 0 }, { series: [] });
    expect(card.querySelector("details")?.hidden).toBe(true);
  });
});
