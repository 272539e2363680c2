// Pages that change while they are read are loaded again by themselves. They yield to their reader:
// who has followed a link or sent a form gets there, and who fills in a field keeps what it has.

/** After so long without another page, the link was a download, or the reader stopped it. */
const LEAVES_WITHIN_MS = 60_000;
const LOOK_MS = 500;

let leftAt = Number.NEGATIVE_INFINITY;
let timer: ReturnType<typeof setTimeout> | undefined;

function leaves(): void {
  leftAt = performance.now();
}

function comesBack(): void {
  leftAt = Number.NEGATIVE_INFINITY;
}

/** From now on it is known when the reader leaves. Not on every page: where a page listens for it,
 * some browsers load it anew when the reader goes back. */
export function watchReader(): void {
  addEventListener("beforeunload", leaves);
  addEventListener("pageshow", comesBack);
}

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
