// Redrawing makes controls again. The focus stays on its control, open menus stay open, and typed
// text stays in its field.

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']";
const STANDS_FOR = ["control", "metric", "view", "scale", "series", "facet"] as const;

/** Draws into `root`. The focus is then on the same control, or on the nearest control. */
export function keepFocus(root: HTMLElement, draw: () => void): void {
  const focused = document.activeElement;
  const place =
    focused instanceof HTMLElement && root.contains(focused) ? placeOf(focused, root) : null;
  const open = new Set(menusIn(root, "details[open]").map(([key]) => key));
  const typed = draftsIn(root);
  draw();
  for (const [key, menu] of menusIn(root, "details")) if (open.has(key)) menu.open = true;
  for (const draft of typed) putBack(root, draft);
  if (place && !focused?.isConnected) refocus(place);
}

/** Menus by the key of the control that opens them. */
function menusIn(root: HTMLElement, which: string): [key: string, menu: HTMLDetailsElement][] {
  return [...root.querySelectorAll<HTMLDetailsElement>(which)].flatMap((menu) => {
    const summary = menu.querySelector("summary");
    return summary ? [[keyOf(summary), menu]] : [];
  });
}

/** Fields of forms with text that was typed and not sent. */
function draftsIn(root: HTMLElement): HTMLInputElement[] {
  return [...root.querySelectorAll<HTMLInputElement>("form input[type=text][id]")].filter(
    (field) => field.value !== field.defaultValue,
  );
}

function putBack(root: HTMLElement, draft: HTMLInputElement): void {
  if (draft.isConnected) return;
  const heir = root.querySelector<HTMLInputElement>(`#${CSS.escape(draft.id)}`);
  if (!heir) return;
  heir.value = draft.value;
  heir.setSelectionRange(draft.selectionStart, draft.selectionEnd);
}

interface Place {
  readonly key: string;
  /** The element that stays on the page while its content is made again. */
  readonly region: HTMLElement;
  readonly index: number;
}

function placeOf(held: HTMLElement, root: HTMLElement): Place {
  const region = held.parentElement?.closest<HTMLElement>("[data-slot]") ?? root;
  return { key: keyOf(held), region, index: controlsIn(region).indexOf(held) };
}

function controlsIn(region: ParentNode): HTMLElement[] {
  return [...region.querySelectorAll<HTMLElement>(CONTROLS)];
}

/** The identity of a control: its data attribute or its text, with the id of its row. */
function keyOf(control: HTMLElement): string {
  const { dataset } = control;
  const row = control.closest<HTMLElement>("[id]")?.id ?? "";
  const name = STANDS_FOR.find((attribute) => dataset[attribute] !== undefined);
  if (name) return JSON.stringify([row, name, dataset[name]]);
  const value = control instanceof HTMLInputElement ? control.value : control.textContent;
  return JSON.stringify([row, "says", control.getAttribute("aria-label") ?? value]);
}

/**
 * Focuses the same control, else the next one in the region, the one before, or the next after the
 * region.
 */
function refocus({ key, region, index }: Place): void {
  const inside = controlsIn(region);
  const heirs = [
    ...inside.filter((control) => keyOf(control) === key),
    ...inside.slice(index),
    ...inside.slice(0, index).reverse(),
  ];
  if (focusFirst(heirs)) return;
  const after = controlsIn(document).filter(
    (control) => region.compareDocumentPosition(control) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  focusFirst(after);
}

/** Hidden and disabled controls, and those in closed menus, do not take the focus. */
function focusFirst(controls: readonly HTMLElement[]): boolean {
  return controls.some((control) => {
    control.focus();
    return document.activeElement === control;
  });
}
