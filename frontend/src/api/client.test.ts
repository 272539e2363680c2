// @vitest-environment happy-dom
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

  it("asks a busy service again after the time it gives", async () => {
    vi.useFakeTimers();
    const busy = () => new Response("{}", { status: 429, headers: { "Retry-After": "2" } });
    const answers = [busy(), busy(), new Response('{"ready":true}')];
    vi.stubGlobal("fetch", async () => answers.shift());
    const body = getJson("/x");
    await vi.advanceTimersByTimeAsync(3_999);
    expect(answers).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await expect(body).resolves.toEqual({ ready: true });
    vi.useRealTimers();
  });

  it("gives up when the service stays busy", async () => {
    vi.useFakeTimers();
    const asked = vi.fn(
      async () => new Response("{}", { status: 503, headers: { "Retry-After": "1" } }),
    );
    vi.stubGlobal("fetch", asked);
    const failed = expect(getJson("/x")).rejects.toMatchObject({ status: 503 });
    await vi.advanceTimersByTimeAsync(10_000);
    await failed;
    expect(asked).toHaveBeenCalledTimes(4);
    vi.useRealTimers();
  });
});
