import { beforeEach, describe, expect, it, vi } from "vitest";
import { figures } from "../testing/figures";
import { panelled } from "../testing/sample_figures";
import { legend, updateLegend } from "./legend";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("legend", () => {
  it("is buttons that tell their state", () => {
    const toggle = vi.fn();
    const [a, b] = legend(figures(), new Set(["a"]), toggle);
    expect(a?.getAttribute("aria-pressed")).toBe("true");
    expect(b?.getAttribute("aria-pressed")).toBe("false");
    b?.click();
    expect(toggle).toHaveBeenCalledWith(["b"], true);
  });

  it("is pressed anew in place, and goes on from there", () => {
    const toggle = vi.fn();
    document.body.append(...legend(figures(), new Set(["a"]), toggle));
    const [, b] = document.querySelectorAll<HTMLElement>(".legend-item");
    updateLegend(document.body, figures(), new Set(["a", "b"]));
    expect(document.querySelectorAll(".legend-item")[1]).toBe(b);
    b?.click();
    expect(toggle).toHaveBeenCalledWith(["b"], false);
  });

  it("has one entry for a server in several panels", () => {
    expect(legend(panelled(), new Set(), vi.fn()).length).toBe(3);
  });
});
