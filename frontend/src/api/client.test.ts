import { beforeEach, describe, expect, it, vi } from "vitest";
import { getJson, Problem } from "./client";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("getJson", () => {
  it("turns problem+json into a sentence and a hint", async () => {
    const body = { detail: "metric=foo is not a metric.", hint: "Use p50." };
    vi.stubGlobal("fetch", async () => new Response(JSON.stringify(body), { status: 400 }));
    await expect(getJson("/x")).rejects.toMatchObject({
      message: body.detail,
      hint: body.hint,
      status: 400,
    });
  });

  it("says so when the service is away", async () => {
    vi.stubGlobal("fetch", async () => {
      throw new TypeError("failed");
    });
    await expect(getJson("/x")).rejects.toBeInstanceOf(Problem);
  });
});
