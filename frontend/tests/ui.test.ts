import { beforeEach, describe, expect, it, vi } from "vitest";
import { getJson, Problem } from "../src/api/http";
import { chips, slug } from "../src/ui/chips";
import { rowsOf } from "../src/ui/dom";
import { formatNumbers } from "../src/ui/enhance";
import { checkList, outcome } from "../src/ui/evidence";
import { figuresTable } from "../src/ui/figures_table";
import { legend } from "../src/ui/legend";
import { rankingPanel } from "../src/ui/ranking";
import { nextTheme } from "../src/ui/theme_choice";
import { sentence, step } from "../src/ui/walk";
import { figures } from "./figures";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("table", () => {
  it("holds the drawn numbers, one row per cell, with scopes and a caption", () => {
    const table = figuresTable(figures());
    expect(rowsOf(table).length).toBe(5);
    expect(table.querySelector("caption")?.textContent).toContain("server a serves");
    expect(table.querySelectorAll("thead th[scope=col]").length).toBe(8);
    const cells = [...(rowsOf(table)[0]?.children ?? [])].map((cell) => cell.textContent);
    expect(cells.slice(0, 4)).toEqual(["server a", "1", "3", "1.00[0.95, 1.05]"]);
  });

  it("says unknown, never 0", () => {
    const cell = rowsOf(figuresTable(figures()))[1]?.children[3];
    expect(cell?.textContent).toBe("unknown");
  });

  it("sorts with aria-sort and keeps unknown last both ways", () => {
    const table = figuresTable(figures());
    const header = table.querySelectorAll("thead th")[3];
    const order = (): string[] =>
      rowsOf(table).map((row) => row.children[3]?.getAttribute("data-sort-value") ?? "");
    header?.querySelector("button")?.click();
    expect(header?.getAttribute("aria-sort")).toBe("descending");
    expect(order()).toEqual(["64000", "32000", "1000", "500", ""]);
    header?.querySelector("button")?.click();
    expect(header?.getAttribute("aria-sort")).toBe("ascending");
    expect(order()).toEqual(["500", "1000", "32000", "64000", ""]);
  });
});

describe("ranking", () => {
  it("makes the pressed row the baseline", () => {
    const chooseBaseline = vi.fn();
    document.body.append(...rankingPanel(figures(), { chooseBaseline, chooseLoad: vi.fn() }));
    const rows = document.querySelectorAll<HTMLButtonElement>("button.rank");
    expect([...rows].map((row) => row.getAttribute("aria-pressed"))).toEqual(["false", "true"]);
    rows[0]?.click();
    expect(chooseBaseline).toHaveBeenCalledWith("a");
  });

  it("says why there is none", () => {
    const none = figures({
      ranking: null,
      outcome: { status: "not_comparable", differing: ["cpu"], reasons: ["the CPU differs"] },
    });
    document.body.append(...rankingPanel(none, { chooseBaseline: null, chooseLoad: null }));
    expect(document.body.textContent).toContain("Not ranked");
    expect(document.body.textContent).toContain("the CPU differs");
  });

  it("offers no buttons on a frozen page", () => {
    document.body.append(...rankingPanel(figures(), { chooseBaseline: null, chooseLoad: null }));
    expect(document.querySelectorAll("button, select").length).toBe(0);
  });
});

describe("chips", () => {
  it("take their own filter away and add what the data offers", () => {
    const go = vi.fn();
    document.body.append(...chips(figures(), "run=0198c5a2-77aa&server=server-a", go));
    expect(document.body.textContent).toContain("2026-11-21 05:40 UTC");
    document.querySelector<HTMLButtonElement>(".chip-remove")?.click();
    expect(go).toHaveBeenCalledWith("server=server-a");
  });

  it("spell names as the service does", () => {
    expect(slug("http.server 3.11")).toBe("httpserver-311");
    expect(slug("gunicorn  gthread")).toBe("gunicorn-gthread");
    expect(slug("…")).toBe("…");
  });
});

describe("legend", () => {
  it("is buttons that tell their state", () => {
    const toggle = vi.fn();
    const [a, b] = legend(figures(), new Set(["a"]), toggle);
    expect(a?.getAttribute("aria-pressed")).toBe("true");
    expect(b?.getAttribute("aria-pressed")).toBe("false");
    b?.click();
    expect(toggle).toHaveBeenCalledWith("b");
  });
});

describe("evidence", () => {
  it("names the outcome in words and shows errors first", () => {
    document.body.append(...outcome(figures()), checkList(figures().checks));
    expect(document.body.textContent).toContain("comparable with 1 caveat");
    expect([...document.querySelectorAll("li")].map((item) => item.id)).toEqual([
      "check-errors",
      "check-same-host",
    ]);
  });

  it("never reads text as markup", () => {
    const check = { ...figures().checks[0], title: "<img src=x>" } as never;
    document.body.append(checkList([check]));
    expect(document.querySelector("img")).toBeNull();
  });
});

describe("keyboard walk", () => {
  it("goes through points and series and speaks", () => {
    const data = figures();
    const first = step(data, null, "ArrowRight");
    expect(first).toEqual({ series: 0, point: 0 });
    expect(step(data, { series: 0, point: 2 }, "ArrowRight")).toEqual({ series: 0, point: 2 });
    expect(step(data, { series: 0, point: 2 }, "ArrowDown")).toEqual({ series: 1, point: 1 });
    expect(sentence(data, "throughput", { series: 0, point: 1 })).toContain("unknown, 3 trials");
    expect(sentence(data, "throughput", { series: 1, point: 1 })).toContain("errors above 1 %");
  });
});

describe("server-rendered numbers", () => {
  it("share one unit per column and keep the exact value in the title", () => {
    document.body.innerHTML = `<table data-columns><thead><tr><th data-format="time">p50<span class="unit"> µs</span></th></tr></thead>
      <tbody><tr><td><data value="812" data-format="time">812</data></td></tr>
      <tr><td><data value="4120.5" data-format="time">4120.5</data></td></tr>
      <tr><td><data value="" data-format="time">unknown</data></td></tr></tbody></table>
      <p><data value="4096" data-format="bytes">4096</data></p>`;
    formatNumbers();
    const said = [...document.querySelectorAll("data")].map((one) => one.textContent);
    expect(said).toEqual(["0.812", "4.12", "unknown", "4.00 KiB"]);
    expect(document.querySelector("data")?.title).toBe("812 µs");
    expect(document.querySelector(".unit")?.textContent).toBe(" ms");
  });
});

describe("theme", () => {
  it("goes round", () => {
    expect(nextTheme("system")).toBe("light");
    expect(nextTheme("dark")).toBe("system");
  });
});

describe("getJson", () => {
  it("turns problem+json into a sentence and a hint", async () => {
    const body = { detail: "metric=foo is not a metric.", hint: "Use p50." };
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify(body), { status: 400 }));
    await expect(getJson("/x")).rejects.toMatchObject({
      message: body.detail,
      hint: body.hint,
      status: 400,
    });
  });

  it("says so when the service is away", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("failed");
    });
    await expect(getJson("/x")).rejects.toBeInstanceOf(Problem);
  });
});
