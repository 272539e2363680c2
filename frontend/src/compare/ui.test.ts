import { beforeEach, describe, expect, it, vi } from "vitest";
import { getJson, Problem } from "../api/client";
import { changesOf, type Figures } from "../api/figures";
import type { Progress } from "../api/progress";
import { summaryOf } from "../charts/summary";
import type { View } from "../query/query";
import { rowsOf, targetId } from "../site/dom";
import { formatNumbers } from "../site/enhance";
import { keepingFocus } from "../site/focus";
import { grow, standingText } from "../site/live_run";
import { nextTheme } from "../site/theme_choice";
import { figures } from "../testing/figures";
import { panelled, sample, trend } from "../testing/sample_figures";
import { checkList, outcome, runList } from "./checks_panel";
import { chips } from "./chips";
import { choosers, metricPicker, scaleToggles, viewTabs } from "./controls";
import { curvesTable, figuresTable } from "./figures_table";
import { FacetMenu } from "./filter_menu";
import { sentence, step, trails } from "./keyboard_nav";
import { legend, pressLegend } from "./legend";
import { Newer } from "./newer_runs";
import { pressBaseline, rankingPanel } from "./ranking_panel";
import { ratioTable } from "./ratio_table";
import { derived } from "./saturation_panel";

beforeEach(() => {
  document.body.replaceChildren();
});

function tableOf(data: Figures): HTMLTableElement {
  const [table] = figuresTable(data);
  if (!(table instanceof HTMLTableElement)) throw new Error("no table");
  return table;
}

describe("table", () => {
  it("holds the drawn numbers, one row per cell, with scopes and a caption", () => {
    const table = tableOf(figures());
    expect(rowsOf(table).length).toBe(5);
    expect(table.querySelector("caption")?.textContent).toContain("server a serves");
    expect(table.querySelectorAll("thead th[scope=col]").length).toBe(8);
    const cells = [...(rowsOf(table)[0]?.children ?? [])].map((cell) => cell.textContent);
    expect(cells.slice(0, 4)).toEqual(["server a", "1", "3", "1.00[0.95, 1.05]"]);
  });

  it("names the panel of each row", () => {
    const data = { ...panelled(), query: "facet=workload" };
    const table = tableOf(data);
    expect(table.querySelectorAll("thead th")[1]?.textContent).toBe("Workload");
    const named = rowsOf(table).map((row) => row.children[1]?.textContent);
    expect(new Set(named)).toEqual(new Set(["hello 13 B", "static 64 KiB"]));
    expect(tableOf(figures()).querySelectorAll("thead th")[1]?.textContent).toBe("Connections");
  });

  it("heads a column as its cells stand", () => {
    const sides = (data: Figures): (boolean | undefined)[] => {
      const table = tableOf(data);
      const cell = rowsOf(table)[0]?.children[1];
      return [table.querySelectorAll("thead th")[1], cell].map((one) =>
        one?.classList.contains("number"),
      );
    };
    expect(sides(figures())).toEqual([true, true]);
    expect(sides(trend())).toEqual([false, false]);
  });

  it("says unknown, never 0", () => {
    const cell = rowsOf(tableOf(figures()))[1]?.children[3];
    expect(cell?.textContent).toBe("unknown");
  });

  it("sorts with aria-sort and keeps unknown last both ways", () => {
    const table = tableOf(figures());
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

  it("makes a pressed row the baseline, but not a link in it", () => {
    const choose = vi.fn();
    document.body.append(...figuresTable(figures(), choose));
    document.querySelector<HTMLElement>("tbody td.number")?.click();
    expect(choose).toHaveBeenLastCalledWith("a");
    document.querySelector<HTMLElement>("tbody .checks-cell a")?.click();
    expect(choose).toHaveBeenCalledTimes(1);
    document.querySelectorAll<HTMLElement>(".series-name")[4]?.click();
    expect(choose).toHaveBeenLastCalledWith("b");
  });

  it("makes many rows only when they are asked for, and all of them to sort", () => {
    const [table, more] = figuresTable(sample({ series: 40 }));
    document.body.append(table ?? "", more ?? "");
    expect(document.querySelectorAll("tbody tr").length).toBe(120);
    document.querySelectorAll<HTMLElement>("thead button")[1]?.click();
    expect(document.querySelectorAll("tbody tr").length).toBe(320);
    expect(document.querySelector(".table-more")).toBeNull();
  });

  it("has a column for each class of error that occurred", () => {
    const heads = [...tableOf(sample()).querySelectorAll("thead th")].map((one) => one.textContent);
    expect(heads.filter((text) => text?.startsWith("Errors:")).length).toBe(2);
  });

  it("holds the percentile curves, blank where they have ended", () => {
    const table = curvesTable(sample());
    expect(table?.querySelector("caption")?.textContent).toContain("64 connections");
    expect(rowsOf(table ?? document).length).toBe(3);
    expect(curvesTable(figures())).toBeNull();
  });
});

describe("ranking", () => {
  it("makes the pressed row the baseline", () => {
    const chooseBaseline = vi.fn();
    document.body.append(
      ...rankingPanel(figures(), { chooseBaseline, chooseLoad: vi.fn(), override: null }),
    );
    const rows = document.querySelectorAll<HTMLButtonElement>("button.rank");
    expect([...rows].map((row) => row.getAttribute("aria-pressed"))).toEqual(["false", "true"]);
    rows[0]?.click();
    expect(chooseBaseline).toHaveBeenCalledWith("a");
  });

  it("marks the chosen baseline before its ratios have come", () => {
    const actions = { chooseBaseline: vi.fn(), chooseLoad: vi.fn(), override: null };
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

  it("says why there is none", () => {
    const none = figures({
      ranking: null,
      outcome: { status: "not_comparable", differing: ["cpu"], reasons: ["the CPU differs"] },
    });
    document.body.append(
      ...rankingPanel(none, { chooseBaseline: null, chooseLoad: null, override: null }),
    );
    expect(document.body.textContent).toContain("Not ranked");
    expect(document.body.textContent).toContain("the CPU differs");
  });

  it("ranks the incomparable only on the reader's word, and says so after", () => {
    const unlike = { status: "not_comparable", differing: ["cpu"], reasons: [] } as const;
    const override = vi.fn();
    const actions = { chooseBaseline: null, chooseLoad: null, override };
    document.body.append(...rankingPanel(figures({ ranking: null, outcome: unlike }), actions));
    document.querySelector<HTMLElement>("[data-control=override]")?.click();
    expect(override).toHaveBeenLastCalledWith(true);
    const ranked = figures({ outcome: { ...unlike, overridden: true } });
    document.body.replaceChildren(...rankingPanel(ranked, actions));
    expect(document.body.textContent).toContain("Overridden");
    document.querySelector<HTMLElement>(".overridden button")?.click();
    expect(override).toHaveBeenLastCalledWith(false);
  });

  it("stands once for each panel", () => {
    const actions = { chooseBaseline: null, chooseLoad: null, override: null };
    document.body.append(...rankingPanel(panelled(), actions));
    expect([...document.querySelectorAll("h2")].map((one) => one.textContent)).toEqual([
      "hello 13 B",
      "static 64 KiB",
    ]);
    expect(document.querySelectorAll(".rank").length).toBe(6);
  });

  it("offers no buttons on a frozen page", () => {
    document.body.append(
      ...rankingPanel(figures(), { chooseBaseline: null, chooseLoad: null, override: null }),
    );
    expect(document.querySelectorAll("button, select").length).toBe(0);
  });
});

describe("chips", () => {
  it("take their own filter away", () => {
    const go = vi.fn();
    document.body.append(...chips(figures(), "run=0198c5a2-77aa&server=server-a", go));
    expect(document.body.textContent).toContain("2026-11-21 05:40 UTC");
    document.querySelector<HTMLButtonElement>('[aria-label^="Remove server"]')?.click();
    expect(go).toHaveBeenCalledWith("run=0198c5a2-77aa");
  });

  it("name values as the figures do and take one of several away", () => {
    const go = vi.fn();
    const data = sample();
    const slug = data.series[0]?.server_slug ?? "";
    document.body.append(...chips(data, `server=${slug}&server=zz&since=2026-01-01`, go));
    expect(document.body.textContent).toContain(data.series[0]?.server);
    expect(document.body.textContent).toContain("since 2026-01-01");
    document.querySelector<HTMLButtonElement>('[aria-label="Remove server zz"]')?.click();
    expect(go).toHaveBeenCalledWith(`server=${slug}&since=2026-01-01`);
  });
});

describe("controls", () => {
  const control = (name: string): HTMLInputElement | HTMLSelectElement | null =>
    document.querySelector(`[data-control="${name}"]`);

  function change(name: string, value: string): void {
    const field = control(name);
    if (!field) throw new Error(`no ${name}`);
    field.value = value;
    field.dispatchEvent(new Event("change"));
  }

  it("scroll to the chosen view within their row", async () => {
    const row = document.body.appendChild(document.createElement("div"));
    const box = (left: number, right: number): DOMRect => new DOMRect(left, 0, right - left, 30);
    row.getBoundingClientRect = () => box(0, 300);
    row.append(...viewTabs(sample(), "view=ratios", vi.fn()));
    const tab = row.querySelector<HTMLElement>("[aria-pressed=true]");
    if (!tab) throw new Error("no tab");
    tab.getBoundingClientRect = () => box(420, 480);
    await new Promise(requestAnimationFrame);
    expect(row.scrollLeft).toBe(180);
  });

  it("write the query and nothing else", () => {
    const go = vi.fn();
    document.body.append(...choosers(sample(), "at=64&logx=1&server=a", go));
    change("x", "version");
    expect(go).toHaveBeenLastCalledWith("server=a&x=version");
    change("facet", "workload");
    expect(go).toHaveBeenLastCalledWith("at=64&facet=workload&logx=1&server=a");
    vi.useFakeTimers();
    change("limit", "2.5");
    expect(go).not.toHaveBeenLastCalledWith(expect.stringContaining("limit"));
    vi.runAllTimers();
    vi.useRealTimers();
    expect(go).toHaveBeenLastCalledWith("at=64&limit=2500&logx=1&server=a");
    change("baseline", sample().series[1]?.id ?? "");
    expect(go).toHaveBeenLastCalledWith("at=64&baseline=10000001&logx=1&server=a");
  });

  it("show a few metrics, the chosen one, and the others in groups", () => {
    const choose = vi.fn();
    document.body.append(...metricPicker(sample().metrics, "memory", choose));
    const tabs = [...document.querySelectorAll<HTMLElement>(".tab")].map(
      (one) => one.dataset.metric,
    );
    expect(tabs).toEqual(["throughput", "p50", "p99", "error_rate", "memory", "cpu_per_1k"]);
    expect(document.querySelector('[aria-pressed="true"]')?.textContent).toBe("Memory");
    document.querySelector<HTMLElement>('.menu-item[data-metric="p90"]')?.click();
    expect(choose).toHaveBeenCalledWith("p90");
  });

  it("offer logarithmic axes where a view has them", () => {
    document.body.append(...scaleToggles(sample(), "view=errors&logy=1", vi.fn()));
    const [x, y] = document.querySelectorAll<HTMLButtonElement>(".toggle");
    expect([x?.disabled, y?.disabled, y?.getAttribute("aria-pressed")]).toEqual([
      false,
      true,
      "false",
    ]);
  });
});

describe("the focus", () => {
  const region = (): HTMLElement => document.querySelector<HTMLElement>("main") ?? document.body;
  const focused = (): string | null | undefined => document.activeElement?.textContent;

  function redraw(before: string, held: string, after: string): void {
    document.body.innerHTML = `<main>${before}</main><a href="/next">next</a>`;
    document.querySelector<HTMLElement>(held)?.focus();
    keepingFocus(region(), () => {
      region().innerHTML = after;
    });
  }

  it("stays on what stands for the same, wherever that is and whatever it says", () => {
    const [before, after] = ["Rank anyway", "Take back"].map(
      (said) => `<button data-control="override">${said}</button>`,
    );
    redraw(`<a href="/">x</a>${before}`, "button", `${after}<a href="/">x</a>`);
    expect(focused()).toBe("Take back");
    redraw(
      '<p id="r1"><button>name</button></p><p id="r2"><button>name</button></p>',
      "#r2 button",
      '<p id="r2"><button>name</button></p><p id="r1"><button>name</button></p>',
    );
    expect(document.activeElement?.parentElement?.id).toBe("r2");
  });

  it("keeps what was typed and not sent, and the form open", () => {
    const form = (id: string): string =>
      `<div id="${id}"><details><summary>Dismiss …</summary><form><input type="text" id="why-${id}"></form></details></div>`;
    document.body.innerHTML = `<main>${form("a")}${form("b")}</main>`;
    const at = (id: string): HTMLInputElement | null => document.querySelector(`#why-${id}`);
    const opened = document.querySelector<HTMLDetailsElement>("#b details");
    if (opened) opened.open = true;
    const field = at("b");
    if (field) field.value = "known to be noise";
    keepingFocus(region(), () => {
      region().innerHTML = `${form("b")}${form("a")}`;
    });
    expect([at("a")?.value, at("b")?.value]).toEqual(["", "known to be noise"]);
    expect(at("b")?.closest("details")?.open).toBe(true);
    expect(at("a")?.closest("details")?.open).toBe(false);
  });

  it("goes to the next, to the one before, or on to what follows", () => {
    const [a, b, c] = ["a", "b", "c"].map((name) => `<button>${name}</button>`);
    redraw(`${a}${b}${c}`, "button:nth-child(2)", `${a}${c}`);
    expect(focused()).toBe("c");
    redraw(`${a}${b}`, "button:nth-child(2)", `${a}`);
    expect(focused()).toBe("a");
    redraw(`${a}`, "button", "none");
    expect(focused()).toBe("next");
  });

  it("is not taken from where it is", () => {
    redraw("<button>a</button>", "a[href]", "<button>a</button>");
    expect(focused()).toBe("next");
  });

  it("finds menus open that were, and closed that were not", () => {
    const draw = (query: string): void => {
      region().replaceChildren(
        ...choosers(sample(), query, (next) => keepingFocus(region(), () => draw(next))),
        ...metricPicker(sample().metrics, "p99", vi.fn()),
      );
    };
    document.body.innerHTML = "<main></main>";
    draw("");
    const menus = (): HTMLDetailsElement[] => [...document.querySelectorAll("details")];
    const [series] = menus();
    if (series) series.open = true;
    const box = document.querySelector<HTMLInputElement>("input[value=version]");
    box?.focus();
    box?.click();
    expect(menus().map((menu) => menu.open)).toEqual([true, false]);
    expect(menus()[0]).not.toBe(series);
    const again = document.querySelector<HTMLInputElement>("input[value=version]");
    expect(document.activeElement).toBe(again);
    expect(again?.checked).toBe(true);
    const whole = document.querySelector<HTMLElement>("button[data-control=series]");
    whole?.focus();
    whole?.click();
    expect(menus().map((menu) => menu.open)).toEqual([false, false]);
    expect(document.activeElement?.tagName).toBe("SUMMARY");
  });
});

describe("filter menu", () => {
  const answer = {
    total: { cells: 4, trials: 20, runs: 2 },
    fields: [
      {
        id: "server",
        label: "Server",
        more: 3,
        values: [
          { value: "a", label: "<b>server a</b>", count: 20, chosen: true },
          { value: "b", label: "server b", count: 0, chosen: false },
        ],
      },
    ],
  };

  it("is read when it is opened, dims what would give nothing, and adds and takes away", async () => {
    const fetched = vi.fn(async () => new Response(JSON.stringify(answer)));
    vi.stubGlobal("fetch", fetched);
    const go = vi.fn();
    const menu = new FacetMenu((query) => `/facets?${query}`, go);
    document.body.append(menu.element);
    menu.follow("server=a");
    expect(fetched).not.toHaveBeenCalled();
    menu.element.open = true;
    menu.element.dispatchEvent(new Event("toggle"));
    await vi.waitFor(() => expect(document.querySelector(".facet")).not.toBeNull());
    expect(document.body.textContent).toContain("20 trials in 2 runs match");
    expect(document.querySelector(".menu-check b")).toBeNull();
    expect(document.querySelectorAll(".is-none").length).toBe(1);
    const [a, b] = document.querySelectorAll<HTMLInputElement>("input[type=checkbox]");
    b?.click();
    expect(go).toHaveBeenLastCalledWith("server=a&server=b");
    a?.click();
    expect(go).toHaveBeenLastCalledWith("");
  });

  it("says what went wrong where the counts should be", async () => {
    const body = JSON.stringify({ detail: "The counts are not to be had.", hint: "Reload." });
    vi.stubGlobal("fetch", async () => new Response(body, { status: 503 }));
    const menu = new FacetMenu((query) => `/facets?${query}`, vi.fn());
    document.body.append(menu.element);
    menu.element.open = true;
    menu.element.dispatchEvent(new Event("toggle"));
    await vi.waitFor(() => expect(document.body.textContent).toContain("not to be had.Reload."));
  });
});

describe("legend", () => {
  it("is buttons that tell their state", () => {
    const toggle = vi.fn();
    const [a, b] = legend(figures(), new Set(["a"]), toggle);
    expect(a?.getAttribute("aria-pressed")).toBe("true");
    expect(b?.getAttribute("aria-pressed")).toBe("false");
    b?.click();
    expect(toggle).toHaveBeenCalledWith(["b"], true);
  });

  it("is pressed anew in place, and goes on from there", () => {
    const toggle = vi.fn();
    document.body.append(...legend(figures(), new Set(["a"]), toggle));
    const [, b] = document.querySelectorAll<HTMLElement>(".legend-item");
    pressLegend(document.body, figures(), new Set(["a", "b"]));
    expect(document.querySelectorAll(".legend-item")[1]).toBe(b);
    b?.click();
    expect(toggle).toHaveBeenCalledWith(["b"], false);
  });

  it("has one entry for a server in several panels", () => {
    expect(legend(panelled(), new Set(), vi.fn()).length).toBe(3);
  });
});

describe("derived", () => {
  it("says knees and capacities in sentences, unknown ones with their reason", () => {
    const data = sample({ series: 2 });
    const [first, second] = data.series;
    const capacity = { x: 64, throughput: 41_000, why: null };
    const rows = [
      { series: first?.id ?? "", ...capacity, low: 8, high: 1024 },
      { series: first?.id ?? "", ...capacity, low: 64, high: 64 },
      { series: first?.id ?? "", ...capacity, low: null, high: 64 },
      { series: second?.id ?? "", x: null, throughput: null, low: null, high: null, why: "none" },
    ];
    document.body.append(...derived({ ...data, capacity: { limit_us: 5_000, rows } }));
    const said = [...document.querySelectorAll("li")].map((one) => one.textContent);
    expect(document.body.textContent).toContain("p99 under 5.00 ms");
    expect(said[0]).toMatch(/: 64 connections, surely 8, possibly 1024, 41.0k req\/s$/);
    expect(said[1]).toMatch(/: 64 connections, 41.0k req\/s$/);
    expect(said[2]).toMatch(/: 64 connections, surely at none, 41.0k req\/s$/);
    expect(said[3]).toContain(": none");
    expect(said[4]).toContain("throughput still grows");
  });
});

describe("tabs of views", () => {
  const trendOf = (data: Figures): string => {
    let asked = "";
    const tabs = viewTabs(data, "at=8", (query) => {
      asked = query;
    });
    tabs.find((tab) => tab.dataset.view === "trend")?.click();
    return asked;
  };

  it("keep the ranked load when the axis becomes another", () => {
    expect(trendOf(figures())).toBe("connections=64&view=trend&x=version");
    const open = { field: "rate", label: "Rate", values: [1, 8, 64] };
    expect(trendOf(figures({ x: open }))).toBe("rate=64&view=trend&x=version");
    expect(trendOf(panelled())).toMatch(/^connections=\d+&view=trend/);
    expect(trendOf({ ...trend(), ranking: figures().ranking })).toBe("view=trend&x=version");
  });
});

describe("ratios", () => {
  it("are a table with a number in each cell and its tint", () => {
    document.body.append(ratioTable(sample()));
    const rows = rowsOf(document);
    expect(rows.length).toBe(4);
    expect(document.querySelectorAll("tbody th[scope=row]").length).toBe(4);
    expect(document.querySelector("caption")?.textContent).toContain("as a ratio to");
    expect(rows[1]?.children[1]?.className).toContain("ratio-same");
    expect(rows[0]?.children[3]?.className).toContain("ratio-better");
  });

  it("say below the table why some are withheld", () => {
    const data = sample();
    const none = { value: null, low: null, high: null, verdict: "inconclusive" } as const;
    const cells = data.ratios?.cells.map((row, i) =>
      row.map((cell) => (i === 0 ? { ...none, why: "more than 1 % of attempts failed" } : cell)),
    );
    document.body.append(ratioTable({ ...data, ratios: { ...data.ratios, cells } } as Figures));
    expect(rowsOf(document)[0]?.textContent).toContain("withheld");
    expect([...document.querySelectorAll(".hint")].map((one) => one.textContent)).toContain(
      "3 ratios on hello 13 B, json 2 KiB, static 64 KiB withheld: more than 1 % of attempts failed",
    );
  });
});

describe("hostile names", () => {
  const hostile = [
    "<img src=x onerror=alert(1)>",
    "\u202Eevil\u202C",
    "خادم سريع",
    "😀".repeat(200),
    `"><script>${"long ".repeat(2_000)}</script>`,
  ];
  const data: Figures = {
    ...sample({ series: 5, names: hostile }),
    finding: hostile[4] ?? "",
    conditions: hostile[0] ?? "",
  };

  it("stay text everywhere", () => {
    const actions = { chooseBaseline: vi.fn(), chooseLoad: vi.fn(), override: null };
    document.body.append(
      ...rankingPanel(data, actions),
      ...figuresTable(data, vi.fn()),
      ...legend(data, new Set(), vi.fn()),
      ...chips(data, `label=${encodeURIComponent(hostile[0] ?? "")}`, vi.fn()),
      ...choosers(data, "", vi.fn()),
      ...derived(data),
      ratioTable(data),
      ...outcome({ ...data, outcome: { ...data.outcome, reasons: hostile } }),
    );
    expect(document.querySelectorAll("img, script").length).toBe(0);
    expect(document.body.textContent).toContain("<img src=x onerror=alert(1)>");
  });

  it("are shortened, with the whole in the title, and kept apart from what stands around", () => {
    const long = hostile[4] ?? "";
    document.body.append(...legend(data, new Set(), vi.fn()));
    const name = document.querySelectorAll("bdi")[4];
    expect(name?.textContent?.length).toBeLessThanOrEqual(48);
    expect(name?.title).toBe(long);
    expect(document.querySelectorAll("bdi")[3]?.textContent).not.toMatch(/[\ud800-\udbff]…$/);
  });

  it("give no address but one of this service", () => {
    const check = { ...sample().checks[0], section: "javascript:alert(1)" } as never;
    document.body.append(checkList([check]));
    const away = { ...sample().runs[0], url: "//evil.example" } as never;
    document.body.append(runList([away]));
    const hrefs = [...document.querySelectorAll("a")].map((one) => one.getAttribute("href"));
    expect(hrefs.filter((one) => !/^\/[^/]|^#/.test(one ?? ""))).toEqual([]);
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

  it("leads from a finding to its trials and its section of the docs", () => {
    document.body.append(checkList(sample().checks));
    const warning = document.querySelector("#check-same-host");
    expect(warning?.querySelector('a[href="/docs/checks#same-host"]')).not.toBeNull();
    expect(warning?.querySelectorAll('a[href^="/t/"]').length).toBe(6);
    warning?.querySelector<HTMLElement>("button.link")?.click();
    expect(warning?.querySelectorAll('a[href^="/t/"]').length).toBe(9);
  });

  it("shows what was dismissed apart, with who and why", () => {
    document.body.append(checkList(sample().checks));
    const groups = [...document.querySelectorAll(".check-group")];
    expect(groups.map((one) => one.querySelector("h3")?.textContent)).toEqual([
      "■ Errors1 check",
      "▲ Warnings1 check",
      "Dismissedno caveats, still shown",
    ]);
    expect(groups[2]?.textContent).toContain("Warmed up by hand, see the notes");
    expect(groups[2]?.textContent).toContain("by mira on 2026-11-20 10:00 UTC");
  });

  it("offers to dismiss only who may, as a form to the run", () => {
    const { checks, runs } = sample();
    document.body.append(checkList(checks));
    expect(document.querySelector("form")).toBeNull();
    document.body.replaceChildren(checkList(checks, { runs, token: "t" }));
    const form = document.querySelector("form");
    expect(form?.getAttribute("action")).toBe(`/r/${runs[0]?.id}/dismissals`);
    expect(form?.querySelector<HTMLInputElement>("[name=check]")?.value).toBe("errors");
    expect(form?.querySelector<HTMLInputElement>("[name=csrfmiddlewaretoken]")?.value).toBe("t");
  });

  it("offers members to take a dismissal back, in the run it was made in", () => {
    const { checks, runs } = sample();
    document.body.append(checkList(checks));
    expect(document.querySelector("form.undo")).toBeNull();
    document.body.replaceChildren(checkList(checks, { runs, token: "t" }));
    const undo = document.querySelector<HTMLFormElement>("form.undo");
    expect(undo?.getAttribute("action")).toBe("/r/0198c5a2-77aa-7000-8000-000000000001/dismissals");
    const sent = Object.fromEntries(new FormData(undo ?? undefined));
    expect(sent).toEqual({
      csrfmiddlewaretoken: "t",
      check: "no-warm-up",
      next: location.pathname + location.search,
      undo: "1",
    });
  });

  it("marks an override beside the outcome", () => {
    const { outcome: before } = figures();
    document.body.append(...outcome(figures({ outcome: { ...before, overridden: true } })));
    expect(document.querySelector(".tag-error")?.textContent).toBe("overridden");
  });

  it("never reads text as markup", () => {
    const check = { ...figures().checks[0], title: "<img src=x>" } as never;
    document.body.append(checkList([check]));
    expect(document.querySelector("img")).toBeNull();
  });
});

describe("keyboard walk", () => {
  it("goes through points and series and speaks", () => {
    const all = trails(figures(), "sweep", "throughput");
    const first = step(all, null, "ArrowRight");
    expect(first).toEqual({ series: 0, point: 0 });
    expect(step(all, { series: 0, point: 2 }, "ArrowRight")).toEqual({ series: 0, point: 2 });
    expect(step(all, { series: 0, point: 2 }, "ArrowDown")).toEqual({ series: 1, point: 1 });
    expect(sentence(all, { series: 0, point: 1 })).toContain("unknown, 3 trials");
    expect(sentence(all, { series: 1, point: 1 })).toContain("errors above 1 %");
  });

  it("says of each view what it shows, and passes over series that are not in it", () => {
    const said = (view: View): string =>
      sentence(trails(sample(), view, "throughput"), { series: 2, point: 3 });
    expect(said("nines")).toMatch(/uvicorn.*p99\.9 .* ms/);
    expect(said("tradeoff")).toMatch(/uvicorn.*at 16 connections: .*k req\/s, p99 .* ms/);
    expect(said("errors")).toMatch(/uvicorn.*at 16 connections: 0 % all failures/);
    expect(trails(sample(), "nines", "throughput").length).toBe(3);
    expect(trails(figures(), "nines", "throughput")).toEqual([]);
    expect(step([], null, "ArrowRight")).toBeNull();
  });
});

describe("summary", () => {
  it("is one sentence of the drawn numbers", () => {
    expect(summaryOf(figures(), "sweep", "throughput")).toMatch(
      /^Throughput lies between 500 req\/s \(.*server b.*, 1 connection\) and 64\.0k req\/s/,
    );
    expect(summaryOf(sample(), "nines", "throughput")).toMatch(/No histogram: .*nginx/);
    expect(summaryOf(sample(), "tradeoff", "throughput")).toMatch(/^The highest throughput short/);
    expect(summaryOf(sample(), "errors", "throughput")).toMatch(/ of 32 load points, most with/);
    expect(summaryOf(trend(), "trend", "throughput")).toContain("1 change of throughput");
    const untold = { ...trend(), changes: [] };
    expect(summaryOf(untold, "trend", "throughput")).toContain("No change of throughput");
    const apart = { ...untold.outcome, status: "not_comparable" as const, overridden: false };
    expect(summaryOf({ ...untold, outcome: apart }, "trend", "throughput")).toContain("not told");
    expect(summaryOf(trend(), "trend", "p99")).toMatch(/^Latency p99 lies between/);
    expect(changesOf(trend(), "throughput").length).toBe(1);
    expect(changesOf(trend(), "p99")).toEqual([]);
    expect(summaryOf(sample(), "ratios", "throughput")).toContain("of 11 ratios");
  });

  it("says unknown where nothing is known", () => {
    expect(summaryOf(figures(), "sweep", "memory")).toContain("is not known");
    expect(summaryOf(figures({ series: [] }), "sweep", "throughput")).toContain("nothing");
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

describe("newer runs", () => {
  it("are asked for when the reader comes back after a while, and offered, not shown", async () => {
    vi.useFakeTimers({ now: Date.parse("2026-11-21T12:00:00Z"), toFake: ["Date"] });
    const before = sample();
    const more = { ...before, runs: [...before.runs, { ...before.runs[0], id: "newer" }] };
    const fetched = vi.fn(async () => new Response(JSON.stringify(more)));
    vi.stubGlobal("fetch", fetched);
    const show = vi.fn();
    const place = document.body.appendChild(document.createElement("span"));
    new Newer(place, show).follow("/api", before);
    expect(place.textContent).toBe("Read 2026-11-21 12:00 UTC");
    const back = (): boolean => document.dispatchEvent(new Event("visibilitychange"));
    back();
    expect(fetched).not.toHaveBeenCalled();
    vi.setSystemTime(Date.parse("2026-11-21T12:05:00Z"));
    back();
    await vi.waitFor(() => expect(place.textContent).toContain("1 newer run since"));
    expect(show).not.toHaveBeenCalled();
    place.querySelector("button")?.click();
    expect(show).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });
});

const RUNNING: Progress = {
  run: "r1",
  state: "running",
  trials_recorded: 3,
  trials_done: 4,
  trials_planned: 20,
  current: {
    ordinal: 4,
    server: "nginx",
    workload: "hello",
    connections: 64,
    rate_rps: null,
    repeat: 2,
    phase: "measure",
  },
  last: { throughput_rps: 8120, p99_us: 9100, error_rate: null },
  seconds_left: 200,
  heard_at: "2026-11-21T14:00:00Z",
};

describe("a run that goes on", () => {
  it("says how far it is, what is measured now and how it went last", () => {
    const said = standingText(RUNNING);
    expect(said.count).toBe("4 of 20 trials");
    expect(said.now).toBe("Now: nginx · hello · 64 connections · repeat 2");
    expect(said.left).toContain("about 3 min left · last 8.12k req/s · p99 9.10 ms");
  });

  it("says of a silent agent that it is not heard, and nothing that it does not know", () => {
    const said = standingText({
      ...RUNNING,
      state: "silent",
      trials_planned: null,
      last: null,
      seconds_left: null,
      heard_at: null,
    });
    expect(said.count).toBe("4 trials");
    expect(said.now).toContain("not heard any more");
    expect(said.left).toBe("");
  });

  it("grows by what is new and leaves what the reader has open as it is", () => {
    const page = (rows: string, checks: string): string =>
      `<table><tbody data-grows="trials">${rows}</tbody></table>` +
      `<div data-grows="evidence"><details id="t1"></details></div>` +
      `<div data-fresh="checks"><p>${checks}</p></div>`;
    const parse = (html: string): Document => new DOMParser().parseFromString(html, "text/html");
    const here = parse(page('<tr id="r1"></tr>', "none"));
    const open = here.querySelector("details");
    if (open) open.open = true;
    const newer = parse(page('<tr id="r1"></tr><tr id="r2"></tr>', "one"));
    expect(grow(here, newer)).toBe(true);
    expect([...here.querySelectorAll("tr")].map((row) => row.id)).toEqual(["r1", "r2"]);
    expect(here.querySelector("details")).toBe(open);
    expect(here.querySelector("details")?.open).toBe(true);
    expect(here.querySelector("[data-fresh]")?.textContent).toBe("one");
  });

  it("is read anew where the page has no place for what is new", () => {
    const parse = (html: string): Document => new DOMParser().parseFromString(html, "text/html");
    const newer = parse('<div data-grows="evidence"><p id="x"></p></div>');
    expect(grow(parse("<p>waiting</p>"), newer)).toBe(false);
  });

  it("offers a comparison its new trials, and shows them only when asked", async () => {
    vi.useFakeTimers();
    let recorded = 3;
    const fetched = vi.fn(
      async () => new Response(JSON.stringify({ ...RUNNING, trials_recorded: recorded })),
    );
    vi.stubGlobal("fetch", fetched);
    const show = vi.fn();
    const place = document.body.appendChild(document.createElement("span"));
    const before = sample();
    const first = before.runs[0];
    if (!first) throw new Error("the sample has runs");
    const newer = new Newer(place, show);
    newer.follow("/api", { ...before, runs: [{ ...first, open: true }] });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(place.textContent).not.toContain("new trial");
    recorded = 5;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(place.textContent).toContain("2 new trials");
    expect(show).not.toHaveBeenCalled();
    place.querySelector("button")?.click();
    expect(show).toHaveBeenCalledTimes(1);
    newer.follow("/api", before);
    const asked = fetched.mock.calls.length;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(fetched.mock.calls.length).toBe(asked);
    vi.useRealTimers();
  });
});

describe("theme", () => {
  it("goes round", () => {
    expect(nextTheme("system")).toBe("light");
    expect(nextTheme("dark")).toBe("system");
  });
});

describe("the address", () => {
  it("leads to an id, whatever stands in it", () => {
    for (const [hash, id] of [
      ["#check-a%20b", "check-a b"],
      ["#%", "%"],
      ["", ""],
    ] as const) {
      location.hash = hash;
      expect(targetId()).toBe(id);
    }
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
