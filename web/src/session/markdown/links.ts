/** Decides which addresses may become links. */
const SAFE_PROTOCOLS: ReadonlySet<string> = new Set(["http:", "https:", "mailto:"]);
const MAX_URL_LENGTH = 2_000;

/** Returns undefined for relative addresses too: they would lead into this page. */
export function toSafeUrl(address: string): string | undefined {
  if (address.length > MAX_URL_LENGTH || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return SAFE_PROTOCOLS.has(url.protocol) ? url.href : undefined;
}
