// Redrawing makes controls anew: who works by keyboard stays where they were, what was open stays
// open, and what was typed stays typed.

const CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']";
const STANDS_FOR = ["control", "metric", "view", "scale", "series", "facet"] as const;

/** Draws what is in `root`; the focus is then on the same control, or on its nearest heir. */
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

/** Menus under what they are opened with. */
function menusIn(root: HTMLElement, which: string): [key: string, menu: HTMLDetailsElement][] {
  return [...root.querySelectorAll<HTMLDetailsElement>(which)].flatMap((menu) => {
    const summary = menu.querySelector("summary");
    return summary ? [[keyOf(summary), menu]] : [];
  });
}

/** Fields of a form, with an id of their own, that hold what nobody has sent yet. */
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
  /** What stays on the page while all in it is made anew. */
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

/** What a control stands for, or else what it says; in rows, of which row it is. */
function keyOf(control: HTMLElement): string {
  const { dataset } = control;
  const row = control.closest<HTMLElement>("[id]")?.id ?? "";
  const name = STANDS_FOR.find((attribute) => dataset[attribute] !== undefined);
  if (name) return JSON.stringify([row, name, dataset[name]]);
  const value = control instanceof HTMLInputElement ? control.value : control.textContent;
  return JSON.stringify([row, "says", control.getAttribute("aria-label") ?? value]);
}

/** The same control, what has its place now, the one before it, or what follows the region. */
function refocus({ key, region, index }: Place): void {
  const inside = controlsIn(region);
  const after = controlsIn(document).filter(
    (control) => region.compareDocumentPosition(control) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const heirs = [
    ...inside.filter((control) => keyOf(control) === key),
    ...inside.slice(index),
    ...inside.slice(0, index).reverse(),
    ...after,
  ];
  // What is hidden, disabled or in a closed menu does not take the focus.
  for (const heir of heirs) {
    heir.focus();
    if (document.activeElement === heir) return;
  }
}
