// The fragment of an address holds what changes no figure: `#show=…&tab=…`.

/** The fragment `hash` with the keys of the fragment `added`; the name of a place is dropped. */
export function joinFragments(hash: string, added: string): string {
  const params = parse(hash);
  for (const [key, value] of parse(added)) params.set(key, value);
  return `#${params}`;
}

export function fragmentValue(hash: string, key: string): string | null {
  return parse(hash).get(key);
}

/** The name of a place, as `#checks`, has no value. */
function parse(hash: string): URLSearchParams {
  const parts = hash.replace(/^#/, "").split("&");
  return new URLSearchParams(parts.filter((part) => part.includes("=")).join("&"));
}
