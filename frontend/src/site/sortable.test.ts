// @vitest-environment happy-dom
import { describe, expect, it } from "vitest";
import { makeSortable } from "./sortable";

describe("a sorted column", () => {
  it("puts 900 before 1,200, and unknown values last", () => {
    const cells = ["1,200", "", "12,000", "900"].map((text) => `<tr><td>${text}</td></tr>`);
    document.body.innerHTML = `<table><thead><tr><th><button data-sort="ascending">Trials</button></th></tr></thead>
      <tbody>${cells.join("")}</tbody></table>`;
    const table = document.querySelector("table");
    if (!table) throw new Error("a table");
    makeSortable(table);
    table.querySelector("button")?.click();
    const texts = [...table.querySelectorAll("td")].map((cell) => cell.textContent);
    expect(texts).toEqual(["900", "1,200", "12,000", ""]);
  });
});
