import { describe, expect, it } from "vitest";
import { fragmentValue, joinFragments } from "./fragment";

describe("the fragment", () => {
  it("keeps its other keys and drops the name of a place", () => {
    expect(joinFragments("#show=a.b", "#tab=checks")).toBe("#show=a.b&tab=checks");
    expect(joinFragments("#show=a.b&tab=checks", "#show=")).toBe("#show=&tab=checks");
    expect(joinFragments("#check-spread", "#tab=runs")).toBe("#tab=runs");
    expect(joinFragments("", "#tab=runs")).toBe("#tab=runs");
  });

  it("takes any address", () => {
    expect(fragmentValue("#%", "tab")).toBeNull();
    expect(fragmentValue("#tab=runs", "tab")).toBe("runs");
  });
});
