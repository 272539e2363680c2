// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { nameCells } from "./cards";

it("names each cell by the head of its column, and marks the blank ones", () => {
  document.body.innerHTML = `<table class="cards"><thead><tr>
      <th>Run</th><th>Throughput<span class="unit"> k
        req/s</span></th><th>Reason</th><th><span class="visually-hidden">Remove</span></th></tr></thead>
    <tbody><tr><th>caddy</th><td>6.00</td><td> </td><td><button></button></td></tr></tbody></table>
    <table><thead><tr><th>Other</th></tr></thead><tbody><tr><td>1</td></tr></tbody></table>`;
  nameCells(document);
  const cells = [...document.querySelectorAll("td")];
  const labels = cells.map((cell) => cell.dataset.label);
  expect(labels).toEqual(["Throughput", "Reason", undefined, undefined]);
  expect(cells.map((cell) => cell.classList.contains("is-blank"))).toEqual([
    false,
    true,
    false,
    false,
  ]);
});
