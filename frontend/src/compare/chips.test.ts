// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { figures } from "../testing/figures";
import "../testing/query_fields";
import { sample } from "../testing/sample_figures";
import { chips } from "./chips";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("chips", () => {
  it("take their own filter away", () => {
    const go = vi.fn();
    document.body.append(...chips(figures(), "run=0198c5a2-77aa&server=server-a", go));
    expect(document.body.textContent).toContain("2026-11-21 05:40 UTC");
    document.querySelector<HTMLButtonElement>('[aria-label^="Remove server"]')?.click();
    expect(go).toHaveBeenCalledWith("run=0198c5a2-77aa");
  });

  it("stand for every field that the page delivers", () => {
    const go = vi.fn();
    document.body.append(...chips(figures(), "colour=red&client=box&metric=p99", go));
    const keys = [...document.querySelectorAll(".chip-key")].map((key) => key.textContent);
    expect(keys).toEqual(["client host", "colour of the case"]);
    document.querySelector<HTMLButtonElement>('[aria-label^="Remove colour"]')?.click();
    expect(go).toHaveBeenCalledWith("client=box&metric=p99");
  });

  it("name values as the figures do and take one of several away", () => {
    const go = vi.fn();
    const data = sample();
    const slug = data.series[0]?.server_slug ?? "";
    document.body.append(...chips(data, `server=${slug}&server=zz&since=2026-01-01`, go));
    expect(document.body.textContent).toContain(data.series[0]?.server);
    expect(document.body.textContent).toContain("since 2026-01-01");
    document.querySelector<HTMLButtonElement>('[aria-label="Remove server zz"]')?.click();
    expect(go).toHaveBeenCalledWith(`server=${slug}&since=2026-01-01`);
  });

  it("go all at once where there are several, and leave what is no filter", () => {
    const go = vi.fn();
    document.body.append(...chips(figures(), "server=a&since=2026-01-01&metric=p99&x=rate", go));
    const button = [...document.querySelectorAll("button")].at(-1);
    expect(button?.textContent).toBe("Remove all");
    button?.click();
    expect(go).toHaveBeenCalledWith("metric=p99&x=rate");
    document.body.replaceChildren(...chips(figures(), "server=a", go));
    expect(document.body.textContent).not.toContain("Remove all");
  });
});
