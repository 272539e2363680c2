// @vitest-environment happy-dom
import { beforeEach, describe, expect, it } from "vitest";
import { targetId } from "./dom";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("the address", () => {
  it("leads to an id, whatever stands in it", () => {
    for (const [hash, id] of [
      ["#check-a%20b", "check-a b"],
      ["#%", "%"],
      ["", ""],
    ] as const) {
      location.hash = hash;
      expect(targetId()).toBe(id);
    }
  });
});
