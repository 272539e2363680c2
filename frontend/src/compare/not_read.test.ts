// @vitest-environment happy-dom
import { expect, it } from "vitest";
import { figures } from "../testing/figures";
import { notReadList } from "./not_read";

const row = { series: "0a1b2c3d", label: "Apache 2.4", x: 64, trials: 3, reason: "Cut off." };

function itemsOf(rows: readonly (Omit<typeof row, "x"> & { readonly x: number | null })[]) {
  const [, list] = notReadList(figures({ not_read: rows }));
  return [...(list?.querySelectorAll("li") ?? [])].map((item) => item.textContent);
}

it("names every series that was not read, with its place, trials and reason", () => {
  expect(itemsOf([row, { ...row, x: null, trials: 1 }])).toEqual([
    "Apache 2.4 at 64 connections, 3 trials: Cut off.",
    "Apache 2.4, 1 trial: Cut off.",
  ]);
});

it("links the runs that it is about", () => {
  const runs = ["0f1e2d3c-0000-4000-8000-000000000001", "1a2b3c4d-0000-4000-8000-000000000002"];
  const [, list] = notReadList(figures({ not_read: [{ ...row, runs }] }));
  const item = list?.querySelector("li");
  expect(item?.textContent).toBe(
    "Apache 2.4 at 64 connections, 3 trials: Cut off. Runs 0f1e2d3c, 1a2b3c4d",
  );
  expect([...(item?.querySelectorAll("a") ?? [])].map((link) => link.getAttribute("href"))).toEqual(
    runs.map((id) => `/r/${id}`),
  );
});

it("counts the rest of many", () => {
  const items = itemsOf(Array.from({ length: 15 }, (_, place) => ({ ...row, x: place })));
  expect(items.length).toBe(13);
  expect(items.at(-1)).toBe("and 3 more");
});

it("is nothing where all was read", () => {
  expect(notReadList(figures())).toEqual([]);
});
