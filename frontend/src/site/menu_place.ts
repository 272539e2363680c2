// An open menu stays on the screen, wherever in its row the button stands.
const MARGIN = 8;

/** How far to the left a box must move so that it ends on the screen; it never leaves it there. */
export function shiftOnScreen(left: number, right: number, width: number): number {
  return Math.max(0, Math.min(right - (width - MARGIN), left - MARGIN));
}

export function keepMenusOnScreen(): void {
  const place = (event: Event): void => {
    const menu = event.target;
    if (!(menu instanceof HTMLDetailsElement) || !menu.matches(".menu[open]")) return;
    const body = menu.querySelector<HTMLElement>(":scope > .menu-body");
    if (!body) return;
    body.style.marginLeft = "";
    const { left, right } = body.getBoundingClientRect();
    const shift = shiftOnScreen(left, right, document.documentElement.clientWidth);
    if (shift > 0) body.style.marginLeft = `${-shift}px`;
  };
  // The event does not bubble.
  document.addEventListener("toggle", place, { capture: true });
}
