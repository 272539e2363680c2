// Small helpers over the DOM. Text is always set as text, never as markup.

type Child = Node | string | null | undefined | false;
type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

const SVG = "http://www.w3.org/2000/svg";

function fill(element: Element, attributes: Attributes, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child) element.append(child);
  }
}

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

export function tableOf(
  attributes: Attributes,
  caption: HTMLElement,
  headings: readonly Child[],
  rows: readonly Child[],
): HTMLTableElement {
  const head = h("thead", {}, h("tr", {}, ...headings));
  return h("table", attributes, caption, head, h("tbody", {}, ...rows));
}

export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

export function button(
  attributes: Attributes,
  onClick: (event: MouseEvent) => void,
  ...children: Child[]
): HTMLButtonElement {
  const element = h("button", { type: "button", ...attributes }, ...children);
  element.addEventListener("click", onClick);
  return element;
}

/** The element of this slot; a missing slot is a fault in the template. */
export function slot(root: ParentNode, name: string): HTMLElement {
  const element = root.querySelector<HTMLElement>(`[data-slot="${name}"]`);
  if (!element) throw new Error(`The template has no data-slot="${name}".`);
  return element;
}

export function optionalSlot(root: ParentNode, name: string): HTMLElement | null {
  return root.querySelector<HTMLElement>(`[data-slot="${name}"]`);
}

/** The id in the address's fragment, decoded where it can be decoded. */
export function targetId(): string {
  const id = location.hash.slice(1);
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

/** The page at an address of this service; null where it answers with an error. */
export async function pageAt(address: string): Promise<Document | null> {
  const answer = await fetch(address, { credentials: "same-origin" });
  return answer.ok ? new DOMParser().parseFromString(await answer.text(), "text/html") : null;
}

export function rowsOf(table: ParentNode): HTMLTableRowElement[] {
  return [...table.querySelectorAll<HTMLTableRowElement>("tbody > tr")];
}

export function columnOf(cell: Element): number {
  return [...(cell.parentElement?.children ?? [])].indexOf(cell);
}
