/** Which addresses a login may go to: what a server says of itself and of others is not believed without a look. */
import { LoginFailure } from "./failure.ts";

/** The server as a resource: one spelling for one server. */
export function canonicalUrl(text: string): string {
  const url = new URL(text);
  url.hash = url.username = url.password = "";
  return url.href;
}

/**
 * Codes and tokens travel encrypted, or do not leave this machine. Plain http is for a server that is on loopback
 * itself: one that is elsewhere has no business with what listens here.
 */
export function checkedEndpoint(text: string | URL, what: string, server: string): URL {
  const url = URL.canParse(String(text)) ? new URL(text) : undefined;
  if (url === undefined) throw new LoginFailure(`${what} is not a URL: ${shown(text)}`);
  if (url.protocol === "https:") return url;
  if (url.protocol !== "http:") throw new LoginFailure(`${what} is neither https nor http: ${shown(text)}`);
  if (!isLoopback(url)) throw new LoginFailure(`${what} is plain http on another machine: ${shown(text)}`);
  if (!isLoopback(new URL(server)) && url.origin !== new URL(server).origin) {
    throw new LoginFailure(`${what} is on this machine, although the server is not: ${shown(text)}`);
  }
  return url;
}

/** One slash at the end makes no other issuer: the URL of an origin has it, and what people write often has not. */
export function isSameIssuer(a: string, b: string): boolean {
  return withoutSlash(a) === withoutSlash(b);
}

export function isSameOrigin(a: string, b: string): boolean {
  return URL.canParse(a) && new URL(a).origin === new URL(b).origin;
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}

function withoutSlash(text: string): string {
  return (URL.canParse(text) ? new URL(text).href : text).replace(/\/$/, "");
}

/** What a stranger wrote, short enough for a status line. */
export function shown(text: string | URL): string {
  return JSON.stringify(String(text).slice(0, 200));
}
