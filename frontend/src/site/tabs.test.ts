// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { startTabs } from "./tabs";

const page = `
  <div data-tabs>
    <nav aria-label="Parts"><a href="#one">One</a><a href="#two">Two</a><a href="#three">Three</a></nav>
    <section id="one"></section>
    <section id="two"><p id="inside"></p></section>
    <section id="three"></section>
  </div>`;

function start(hash = ""): void {
  document.body.innerHTML = page;
  history.replaceState(null, "", `/r/1${hash}`);
  startTabs(document.querySelector<HTMLElement>("[data-tabs]") as HTMLElement);
}

const tab = (name: string): HTMLElement => document.getElementById(`tab-${name}`) as HTMLElement;
const shown = (): string[] =>
  [...document.querySelectorAll<HTMLElement>("section")].filter((s) => !s.hidden).map((s) => s.id);

describe("tabs", () => {
  beforeEach(() => start());

  it("show the first part, and name it for assistive technology", () => {
    expect(shown()).toEqual(["one"]);
    expect(document.querySelector("nav")?.getAttribute("role")).toBe("tablist");
    expect(tab("one").getAttribute("aria-selected")).toBe("true");
    expect(tab("one").getAttribute("aria-controls")).toBe("one");
    expect(document.getElementById("one")?.getAttribute("role")).toBe("tabpanel");
    expect(document.getElementById("one")?.getAttribute("aria-labelledby")).toBe("tab-one");
  });

  it("open by a click, and the address says which", () => {
    tab("three").click();
    expect(shown()).toEqual(["three"]);
    expect(location.hash).toBe("#three");
    expect([tab("one").tabIndex, tab("three").tabIndex]).toEqual([-1, 0]);
  });

  it("open at the address, also at something inside a part", () => {
    start("#two");
    expect(shown()).toEqual(["two"]);
    start("#inside");
    expect(shown()).toEqual(["two"]);
    start("#nothing");
    expect(shown()).toEqual(["one"]);
  });

  it("follow an address that changes", () => {
    history.replaceState(null, "", "/r/1#inside");
    dispatchEvent(new HashChangeEvent("hashchange"));
    expect(shown()).toEqual(["two"]);
  });

  it.each([
    ["ArrowRight", "two"],
    ["ArrowLeft", "three"],
    ["End", "three"],
    ["Home", "one"],
    ["x", "one"],
  ])("move by %s", (key, name) => {
    tab("one").dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }));
    expect(shown()).toEqual([name]);
  });
});
