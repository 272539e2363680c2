// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import "../testing/query_fields";
import { FilterMenu } from "./filter_menu";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("filter menu", () => {
  const answer = {
    total: { cells: 4, trials: 20, runs: 2 },
    fields: [
      {
        id: "server",
        label: "Server",
        more: 3,
        values: [
          { value: "a", label: "<b>server a</b>", count: 20, chosen: true },
          { value: "b", label: "server b", count: 0, chosen: false },
        ],
      },
    ],
  };

  it("is read when it is opened, dims what would give nothing, and adds and takes away", async () => {
    const fetched = vi.fn(async () => new Response(JSON.stringify(answer)));
    vi.stubGlobal("fetch", fetched);
    const go = vi.fn();
    const menu = new FilterMenu((query) => `/facets?${query}`, go);
    document.body.append(menu.element);
    menu.follow("server=a");
    expect(menu.element.querySelector("summary")?.textContent).toBe("Filters (1)");
    expect(fetched).not.toHaveBeenCalled();
    menu.element.open = true;
    menu.element.dispatchEvent(new Event("toggle"));
    await vi.waitFor(() => expect(document.querySelector(".facet")).not.toBeNull());
    expect(document.body.textContent).toContain("20 trials in 2 runs match");
    expect(document.querySelector(".menu-check b")).toBeNull();
    expect(document.querySelectorAll(".is-none").length).toBe(1);
    const [a, b] = document.querySelectorAll<HTMLInputElement>("input[type=checkbox]");
    b?.click();
    expect(go).toHaveBeenLastCalledWith("server=a&server=b");
    a?.click();
    expect(go).toHaveBeenLastCalledWith("");
  });

  it("says what went wrong where the counts should be", async () => {
    const body = JSON.stringify({ detail: "The counts are not to be had.", hint: "Reload." });
    vi.stubGlobal("fetch", async () => new Response(body, { status: 503 }));
    const menu = new FilterMenu((query) => `/facets?${query}`, vi.fn());
    document.body.append(menu.element);
    menu.element.open = true;
    menu.element.dispatchEvent(new Event("toggle"));
    await vi.waitFor(() => expect(document.body.textContent).toContain("not to be had.Reload."));
  });
});
