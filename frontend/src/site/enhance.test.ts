// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { formatNumbers } from "./enhance";

beforeEach(() => {
  document.body.replaceChildren();
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

  it("have the unit of their column at hand for cards, where the head stands elsewhere", () => {
    document.body.innerHTML = `<table data-columns><thead><tr><th data-format="rate">Throughput<span class="unit"></span></th>
      <th data-format="count">Requests</th></tr></thead><tbody>
      <tr><td><data value="6000" data-format="rate"></data></td><td><data value="9" data-format="count"></data></td></tr>
      <tr><td><data value="" data-format="rate"></data></td><td></td></tr></tbody></table>`;
    formatNumbers();
    const units = [...document.querySelectorAll("data")].map((each) => each.dataset.unit);
    expect(units).toEqual([" req/s", undefined, undefined]);
  });

  it("have no unit in a column without a figure", () => {
    document.body.innerHTML = `<table data-columns><thead><tr><th data-format="bytes">Memory<span class="unit"> bytes</span></th></tr></thead>
      <tbody><tr><td><data value="" data-format="bytes"></data></td></tr></tbody></table>`;
    formatNumbers();
    expect(document.querySelector("th")?.textContent).toBe("Memory");
  });

  it("share one unit over the columns of a group", () => {
    const head = '<th data-format="time" data-group="p99">p99<span class="unit"></span></th>';
    document.body.innerHTML = `<table data-columns><thead><tr>${head}${head}</tr></thead>
      <tbody><tr><td><data value="5000" data-format="time">5000</data></td>
      <td><data value="316" data-format="time">316</data></td></tr>
      <tr><td><data value="4000" data-format="time">4000</data></td><td></td></tr></tbody></table>`;
    formatNumbers();
    const texts = [...document.querySelectorAll("data")].map((element) => element.textContent);
    expect(texts).toEqual(["5.00", "0.316", "4.00"]);
    const units = [...document.querySelectorAll(".unit")].map((element) => element.textContent);
    expect(units).toEqual([" ms", " ms"]);
  });

  it("call a latency below the step of the tool less than that step", () => {
    document.body.innerHTML = `<table data-columns><thead><tr><th data-format="time">p50<span class="unit"> µs</span></th></tr></thead>
      <tbody><tr><td><data value="0" data-format="time" data-step="1000">0</data></td></tr></tbody></table>
      <p><data value="0" data-format="time" data-step="1000">0</data></p>`;
    formatNumbers();
    const texts = [...document.querySelectorAll("data")].map((element) => element.textContent);
    expect(texts).toEqual(["< 1", "< 1 ms"]);
    expect(document.querySelector(".unit")?.textContent).toBe(" ms");
  });
});
