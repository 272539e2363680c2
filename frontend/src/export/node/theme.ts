// The light theme, read from the style sheet: every colour is defined once.
import { type ChartTheme, themeOf } from "../../charts/style/theme";

/** `--name: light-dark(#light, #dark)` of a style sheet -> the light value by name. */
export function lightColours(css: string): ReadonlyMap<string, string> {
  const declarations = css.matchAll(/--([\w-]+):\s*light-dark\(\s*(#[0-9a-f]{3,8})\s*,/gi);
  return new Map([...declarations].map(([, name, value]) => [name ?? "", value ?? ""]));
}

export function lightTheme(css: string, font: string): ChartTheme {
  const colours = lightColours(css);
  const colour = (name: string): string => {
    const value = colours.get(name);
    if (!value) throw new Error(`the style sheet has no colour --${name} of both themes`);
    return value;
  };
  return themeOf(colour, font);
}
