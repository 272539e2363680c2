// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { RUNNING } from "../testing/progress";
import { addNewParts, progressText } from "./live_run";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("a run that goes on", () => {
  it("says how far it is, what is measured now and how it went last", () => {
    const said = progressText(RUNNING);
    expect(said.count).toBe("4 of 20 trials and warm-ups");
    expect(said.now).toBe("Now: nginx · hello · 64 connections · repeat 2");
    expect(said.left).toContain("about 3 min left · last 8,120 req/s · p99 9.10 ms");
  });

  it("says that a silent agent stopped reporting, and nothing that is unknown", () => {
    const said = progressText({
      ...RUNNING,
      state: "silent",
      trials_planned: null,
      last: null,
      seconds_left: null,
      heard_at: null,
    });
    expect(said.count).toBe("4 trials and warm-ups");
    expect(said.now).toContain("stopped reporting");
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
    expect(addNewParts(here, newer)).toBe(true);
    expect([...here.querySelectorAll("tr")].map((row) => row.id)).toEqual(["r1", "r2"]);
    expect(here.querySelector("details")).toBe(open);
    expect(here.querySelector("details")?.open).toBe(true);
    expect(here.querySelector("[data-fresh]")?.textContent).toBe("one");
  });

  it("is read again once it has so many trials that they are in pages", () => {
    const parse = (html: string): Document => new DOMParser().parseFromString(html, "text/html");
    const paged = '<div class="pager"></div>';
    expect(addNewParts(parse("<p></p>"), parse(paged))).toBe(false);
    expect(addNewParts(parse(paged), parse(paged))).toBe(true);
  });

  it("is read again where the page has no place for what is new", () => {
    const parse = (html: string): Document => new DOMParser().parseFromString(html, "text/html");
    const newer = parse('<div data-grows="evidence"><p id="x"></p></div>');
    expect(addNewParts(parse("<p>waiting</p>"), newer)).toBe(false);
  });
});
