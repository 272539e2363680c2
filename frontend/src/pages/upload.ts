// Follows one upload until it reaches an end state, then shows the finished page.
import { getJson, Problem } from "../api/client";
import { readAgain, watchReader } from "../site/reading_again";

const ENDS = new Set(["parsed", "failed", "quarantined"]);
/** The states in people's words; partials/state.html has the same. */
const WORDS: Readonly<Record<string, string>> = {
  received: "Waiting to be read",
  parsing: "Reading…",
  parsed: "Done",
  partial: "Partly read",
  failed: "Failed",
  quarantined: "Failed",
};
const FIRST_MS = 500;
const SLOWEST_MS = 5_000;

const root = document.querySelector<HTMLElement>("[data-upload-url]");

function say(page: HTMLElement, state: string, text: string): void {
  const word = WORDS[state] ?? state;
  for (const place of page.querySelectorAll("[data-slot=state]")) place.textContent = word;
  const live = page.querySelector("[data-slot=said]");
  if (live && live.textContent !== text) live.textContent = text;
}

async function follow(page: HTMLElement, url: string, wait: number): Promise<void> {
  try {
    const body = (await getJson(url)) as { state?: unknown; reason?: unknown };
    const state = String(body.state ?? "unknown");
    // While the upload waits, the reason says why.
    const reason = body.reason ? `${body.reason} ` : "";
    // Of an upload that was read, the reason names what was not.
    const shown = state === "parsed" && reason ? "partial" : state;
    say(page, shown, `${reason}Checked at ${new Date().toISOString().slice(11, 19)} UTC.`);
    if (ENDS.has(state)) {
      readAgain();
      return;
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    say(page, page.dataset.state ?? "unknown", `${error.message} Retrying.`);
  }
  setTimeout(() => void follow(page, url, Math.min(wait * 1.5, SLOWEST_MS)), wait);
}

const state = root?.dataset.state ?? "";
if (root && !ENDS.has(state)) {
  watchReader();
  setTimeout(() => void follow(root, root.dataset.uploadUrl ?? "", FIRST_MS), FIRST_MS);
}
