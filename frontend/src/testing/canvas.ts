// A canvas without pixels: every character is ten pixels wide.

export function width(text: string): number {
  return text.length * 10;
}

/** A canvas that keeps the texts written on it. */
export function canvasFor(written: string[]): CanvasRenderingContext2D {
  const painted = "fillRect save restore setLineDash beginPath moveTo lineTo stroke".split(" ");
  return {
    measureText: (text: string) => ({ width: width(text) }),
    fillText: (text: string) => written.push(text),
    ...Object.fromEntries(painted.map((name) => [name, () => {}])),
  } as unknown as CanvasRenderingContext2D;
}
