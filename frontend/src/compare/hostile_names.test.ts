// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Figures } from "../api/figures";
import "../testing/query_fields";
import { makeCard } from "../testing/card";
import { sample } from "../testing/sample_figures";
import { checkList, runList } from "./checks_panel";
import { chips } from "./chips";
import { arrangement, baselineSelect, questionControls } from "./controls";
import { figuresTable } from "./figures_table";
import { legend } from "./legend";
import { rankingPanel } from "./ranking_panel";
import { ratioTable } from "./ratio_table";
import { saturationPanel } from "./saturation_panel";
import { drawSentence, drawTrust } from "./verdict_card";

beforeEach(() => {
  document.body.replaceChildren();
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
    const actions = { chooseBaseline: vi.fn(), override: null };
    document.body.append(
      ...rankingPanel(data, actions),
      ...figuresTable(data, vi.fn()),
      ...legend(data, { press: vi.fn(), showAll: vi.fn() }),
      ...chips(data, `label=${encodeURIComponent(hostile[0] ?? "")}`, vi.fn()),
      ...arrangement(data, "", vi.fn()),
      baselineSelect(data, "", vi.fn()),
      ...questionControls(data, "", {
        metrics: data.metrics,
        metric: "p99",
        choose: vi.fn(),
        go: vi.fn(),
      }),
      ...saturationPanel(data),
      ratioTable(data),
    );
    const card = document.body.appendChild(makeCard());
    drawSentence(card, { sentence: hostile[4] ?? "", margin: hostile[0] ?? "" });
    drawTrust(card, { ...data, outcome: { ...data.outcome, reasons: hostile } });
    expect(document.body.querySelectorAll("img, script").length).toBe(0);
    expect(document.body.textContent).toContain("<img src=x onerror=alert(1)>");
  });

  it("are shortened, with the whole in the title, and kept apart from what stands around", () => {
    const long = hostile[4] ?? "";
    document.body.append(...legend(data, { press: vi.fn(), showAll: vi.fn() }));
    const name = document.querySelectorAll("bdi")[4];
    expect(name?.textContent?.length).toBeLessThanOrEqual(48);
    expect(name?.title).toBe(long);
    expect(document.querySelectorAll("bdi")[3]?.textContent).not.toMatch(/[\ud800-\udbff]…$/);
  });

  it("give no address but one of this service", () => {
    const check = { ...sample().checks[0], section: "javascript:alert(1)" } as never;
    document.body.append(checkList({ ...sample(), checks: [check] }));
    const away = { ...sample().runs[0], url: "//evil.example" } as never;
    document.body.append(runList([away]));
    const hrefs = [...document.querySelectorAll("a")].map((one) => one.getAttribute("href"));
    expect(hrefs.filter((one) => !/^\/[^/]|^#/.test(one ?? ""))).toEqual([]);
  });
});
