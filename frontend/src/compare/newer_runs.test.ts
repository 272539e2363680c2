// @vitest-environment happy-dom
import { beforeEach, describe, expect, it, vi } from "vitest";
import { RUNNING } from "../testing/progress";
import { sample } from "../testing/sample_figures";
import { NewerRuns } from "./newer_runs";

beforeEach(() => {
  document.body.replaceChildren();
});

describe("newer runs", () => {
  it("are asked for when the reader comes back after a while, and offered, not shown", async () => {
    vi.useFakeTimers({ now: Date.parse("2026-11-21T12:00:00Z"), toFake: ["Date"] });
    const before = sample();
    const more = { ...before, runs: [...before.runs, { ...before.runs[0], id: "newer" }] };
    const fetched = vi.fn(async () => new Response(JSON.stringify(more)));
    vi.stubGlobal("fetch", fetched);
    const show = vi.fn();
    const place = document.body.appendChild(document.createElement("span"));
    new NewerRuns(place, show).follow("/api", before);
    expect(place.textContent).toBe("Read 2026-11-21 12:00 UTC");
    const back = (): boolean => document.dispatchEvent(new Event("visibilitychange"));
    back();
    expect(fetched).not.toHaveBeenCalled();
    vi.setSystemTime(Date.parse("2026-11-21T12:05:00Z"));
    back();
    await vi.waitFor(() => expect(place.textContent).toContain("1 newer run since"));
    expect(show).not.toHaveBeenCalled();
    place.querySelector("button")?.click();
    expect(show).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });
});

describe("a comparison of a run that goes on", () => {
  it("is offered its new trials, and shows them only when asked", async () => {
    vi.useFakeTimers();
    let recorded = 3;
    const fetched = vi.fn(
      async () => new Response(JSON.stringify({ ...RUNNING, trials_recorded: recorded })),
    );
    vi.stubGlobal("fetch", fetched);
    const show = vi.fn();
    const place = document.body.appendChild(document.createElement("span"));
    const before = sample();
    const first = before.runs[0];
    if (!first) throw new Error("the sample has runs");
    const newer = new NewerRuns(place, show);
    newer.follow("/api", { ...before, runs: [{ ...first, open: true }] });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(place.textContent).not.toContain("new trial");
    recorded = 5;
    await vi.advanceTimersByTimeAsync(5_000);
    expect(place.textContent).toContain("2 new trials");
    expect(show).not.toHaveBeenCalled();
    place.querySelector("button")?.click();
    expect(show).toHaveBeenCalledTimes(1);
    newer.follow("/api", before);
    const asked = fetched.mock.calls.length;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(fetched.mock.calls.length).toBe(asked);
    vi.useRealTimers();
  });
});
