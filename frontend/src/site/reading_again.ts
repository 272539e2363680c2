// Pages that change while they are read are loaded again by themselves. They yield to their reader:
// who has followed a link or sent a form gets there, and who fills in a field keeps what it has.

/** After so long without another page, the link was a download, or the reader stopped it. */
const LEAVES_WITHIN_MS = 60_000;
const LOOK_MS = 500;

let leftAt = Number.NEGATIVE_INFINITY;
let timer: ReturnType<typeof setTimeout> | undefined;
addEventListener("beforeunload", () => {
  leftAt = performance.now();
});
// The browser went back to the page.
addEventListener("pageshow", () => {
  leftAt = Number.NEGATIVE_INFINITY;
});

/** Whether the reader is on the way to another page. */
export function isLeaving(): boolean {
  return performance.now() - leftAt < LEAVES_WITHIN_MS;
}

function isFillingIn(): boolean {
  return document.activeElement?.matches("input, select, textarea") ?? false;
}

/** Loads the page again, as soon as its reader neither leaves it nor fills in a field. */
export function readAgain(): void {
  clearTimeout(timer);
  if (isLeaving() || isFillingIn()) timer = setTimeout(readAgain, LOOK_MS);
  else location.reload();
}
