// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { h } from "./dom";
import { bindPalette, grouped } from "./palette";

function row(text: string): HTMLElement {
  return h("li", { role: "option" }, text);
}

describe("grouped", () => {
  it("puts what is public below its heading, behind the results of the workspace", () => {
    const rows = ["caddy", "nginx", "A study"].map(row);
    const results = [{ group: "" }, { group: "" }, { group: "Public" }];
    const [own, shared] = grouped(results, rows);
    expect([...(own?.children ?? [])].map((item) => item.textContent)).toEqual(["caddy", "nginx"]);
    const texts = [...(shared?.children ?? [])].map((item) => item.textContent);
    expect(texts).toEqual(["Public", "A study"]);
    const heading = shared?.getAttribute("aria-labelledby");
    expect(shared?.querySelector(`#${heading}`)?.textContent).toBe("Public");
  });

  it("is empty without results", () => {
    expect(grouped([], [])).toEqual([]);
  });
});

describe("Enter before the answer", () => {
  const assign = vi.fn();
  let answer: (body: unknown) => void;

  beforeEach(() => {
    assign.mockClear();
    vi.useFakeTimers();
    vi.spyOn(location, "assign").mockImplementation(assign);
    // As after an abort that comes too late: the answer is there all the same.
    vi.stubGlobal("fetch", () => {
      return new Promise((resolve) => {
        answer = (body) => resolve(new Response(JSON.stringify(body)));
      });
    });
    document.body.innerHTML = "<button data-palette='/search' hidden></button>";
    bindPalette();
    document.querySelector("button")?.click();
  });

  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    dispatchEvent(new Event("pageshow"));
  });

  async function typeAndEnter(meanwhile: () => void): Promise<void> {
    const input = document.querySelector("input") as HTMLInputElement;
    input.value = "caddy";
    input.dispatchEvent(new Event("input"));
    vi.advanceTimersByTime(200);
    input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
    meanwhile();
    answer({ results: [{ kind: "server", title: "caddy", hint: "", url: "/caddy", group: "" }] });
    await vi.advanceTimersByTimeAsync(10);
  }

  it("opens the first result", async () => {
    await typeAndEnter(() => {});
    expect(assign).toHaveBeenCalledWith("/caddy");
  });

  it("opens nothing once the reader has closed the palette", async () => {
    await typeAndEnter(() => document.querySelector("dialog")?.close());
    expect(assign).not.toHaveBeenCalled();
  });

  it("opens nothing once the reader is on the way elsewhere", async () => {
    await typeAndEnter(() => dispatchEvent(new Event("beforeunload")));
    expect(assign).not.toHaveBeenCalled();
  });
});
