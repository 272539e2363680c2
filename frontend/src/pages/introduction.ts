// The embedded comparison follows its links by itself. This marks which of them is shown, and lends
// the frame the theme that the reader chose: a framed page reads no storage.
import { onThemeChange } from "../charts/style/theme";
import { followDemo } from "../site/demo_progress";

function markLook(showcase: Element, chosen: Element): void {
  for (const look of showcase.querySelectorAll("a.look")) look.removeAttribute("aria-current");
  chosen.setAttribute("aria-current", "true");
}

function lendTheme(frame: HTMLIFrameElement): void {
  const framed = frame.contentDocument?.documentElement;
  if (!framed) return;
  const theme = document.documentElement.dataset.theme;
  if (theme === undefined) delete framed.dataset.theme;
  else framed.dataset.theme = theme;
}

function bindShowcase(showcase: Element): void {
  showcase.addEventListener("click", (event) => {
    const look = (event.target as Element).closest("a.look");
    if (look) markLook(showcase, look);
  });
  const frame = showcase.querySelector("iframe");
  if (!frame) return;
  frame.addEventListener("load", () => lendTheme(frame));
  onThemeChange(() => lendTheme(frame));
  lendTheme(frame);
}

function bindWithin(place: ParentNode): void {
  const showcase = place.querySelector("[data-showcase]");
  if (showcase) bindShowcase(showcase);
}

bindWithin(document);
followDemo(bindWithin);
