// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { Tabs } from "./tabs";

const NAMES = ["latency", "figures", "checks"];

function makeTabs(): Tabs {
  const links = NAMES.map((name) => `<a href="#${name}">${name}</a>`).join("");
  const parts = NAMES.map((name) => `<section id="${name}"><p id="in-${name}">x</p></section>`);
  const link = '<details open><a id="to-check" href="#in-checks">check</a></details>';
  document.body.innerHTML = `<main><div data-slot="tabs">${links}</div>${parts.join("")}${link}</main>`;
  return new Tabs(document.querySelector("main") ?? document.body);
}

const shown = (): string[] =>
  NAMES.filter((name) => document.getElementById(name)?.hidden === false);
const tab = (name: string): HTMLElement => {
  const found = document.getElementById(`tab-${name}`);
  if (!found) throw new Error(name);
  return found;
};
const press = (key: string): boolean | undefined =>
  document.activeElement?.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }),
  );

beforeEach(() => {
  history.replaceState(null, "", "/w/lab/compare");
});

describe("tabs", () => {
  it("show one part at a time and keep it in the address with what else is there", () => {
    history.replaceState(null, "", "#show=a.b");
    makeTabs();
    expect(shown()).toEqual(["latency"]);
    tab("figures").click();
    expect(shown()).toEqual(["figures"]);
    expect(location.hash).toBe("#show=a.b&tab=figures");
    expect(tab("figures").getAttribute("aria-selected")).toBe("true");
    expect(document.getElementById("figures")?.getAttribute("role")).toBe("tabpanel");
  });

  it("open the tab of the address, or of a place in it", () => {
    history.replaceState(null, "", "#tab=checks");
    makeTabs();
    expect(shown()).toEqual(["checks"]);
    history.replaceState(null, "", "#in-figures");
    makeTabs();
    expect(shown()).toEqual(["figures"]);
  });

  it("add to the history, so that Back returns to the tab before", () => {
    makeTabs();
    const before = history.length;
    tab("figures").click();
    expect(history.length).toBe(before + 1);
    tab("figures").click();
    expect(history.length).toBe(before + 1);
    history.replaceState(null, "", "/w/lab/compare");
    dispatchEvent(new HashChangeEvent("hashchange"));
    expect(shown()).toEqual(["latency"]);
  });

  it("move by the arrow keys, past tabs without content", () => {
    const tabs = makeTabs();
    tabs.offer({ figures: { label: "Figures", isEmpty: true } });
    expect(tab("figures").textContent).toBe("Figures");
    tab("latency").focus();
    press("ArrowRight");
    expect(document.activeElement).toBe(tab("checks"));
    expect(shown()).toEqual(["checks"]);
    press("ArrowRight");
    expect(shown()).toEqual(["latency"]);
    press("End");
    expect(shown()).toEqual(["checks"]);
    expect(tab("latency").tabIndex).toBe(-1);
  });

  it("fall back to the first where the chosen one has nothing", () => {
    history.replaceState(null, "", "#tab=figures");
    const tabs = makeTabs();
    tabs.offer({ figures: { label: "Figures", isEmpty: true } });
    expect(shown()).toEqual(["latency"]);
  });

  it("follow a link into a tab, and go there by a script", () => {
    const tabs = makeTabs();
    const place = document.getElementById("in-checks");
    if (place) place.scrollIntoView = () => {};
    document.getElementById("to-check")?.click();
    expect(shown()).toEqual(["checks"]);
    expect(document.activeElement).toBe(place);
    expect(document.querySelector("details")?.open).toBe(false);
    tabs.reveal(document.getElementById("in-latency"));
    expect(shown()).toEqual(["latency"]);
  });

  it("are all shown on paper", () => {
    makeTabs();
    dispatchEvent(new Event("beforeprint"));
    expect(shown()).toEqual(NAMES);
    dispatchEvent(new Event("afterprint"));
    expect(shown()).toEqual(["latency"]);
  });
});
