// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { h } from "./dom";
import { grouped } from "./palette";

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
