// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isLeaving, readAgain, watchReader } from "./reading_again";

const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  reload.mockClear();
  vi.spyOn(location, "reload").mockImplementation(reload);
  document.body.innerHTML = "<input>";
  watchReader();
});

afterEach(() => {
  vi.clearAllTimers();
  dispatchEvent(new Event("pageshow"));
});

describe("a page that loads itself again", () => {
  it("does so at once where nobody is about to leave it", () => {
    readAgain();
    expect(reload).toHaveBeenCalledOnce();
  });

  it("lets a reader go who has followed a link or sent a form", () => {
    dispatchEvent(new Event("beforeunload"));
    readAgain();
    vi.advanceTimersByTime(59_000);
    expect(reload).not.toHaveBeenCalled();
  });

  it("does so once where the link was a download, however often it is asked", () => {
    dispatchEvent(new Event("beforeunload"));
    readAgain();
    readAgain();
    vi.advanceTimersByTime(61_000);
    expect(reload).toHaveBeenCalledOnce();
  });

  it("waits while the reader fills in a field", () => {
    const field = document.querySelector("input");
    field?.focus();
    readAgain();
    vi.advanceTimersByTime(600_000);
    expect(reload).not.toHaveBeenCalled();
    field?.blur();
    vi.advanceTimersByTime(1_000);
    expect(reload).toHaveBeenCalledOnce();
  });

  it("is read anew where the browser goes back to it", () => {
    dispatchEvent(new Event("beforeunload"));
    expect(isLeaving()).toBe(true);
    dispatchEvent(new Event("pageshow"));
    expect(isLeaving()).toBe(false);
  });
});
