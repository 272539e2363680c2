// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { arrangement } from "../compare/controls";
import "../testing/query_fields";
import { sample } from "../testing/sample_figures";
import { h } from "./dom";
import { keepFocus } from "./focus";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("the focus", () => {
  const region = (): HTMLElement => document.querySelector<HTMLElement>("main") ?? document.body;
  const focused = (): string | null | undefined => document.activeElement?.textContent;

  function redraw(before: string, held: string, after: string): void {
    document.body.innerHTML = `<main>${before}</main><a href="/next">next</a>`;
    document.querySelector<HTMLElement>(held)?.focus();
    keepFocus(region(), () => {
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
    keepFocus(region(), () => {
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
        ...arrangement(sample(), query, (next) => keepFocus(region(), () => draw(next))),
        h("details", {}, h("summary", {}, "More")),
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
  });
});
