/** The URL under which browsers reach the page, if it is not the server's own. */
import { RookeryError } from "../../../domain/index.ts";

export interface PublicUrl {
  /** Such as `https://rookery.example`. */
  readonly origin: string;
  readonly host: string;
  readonly isSecure: boolean;
}

/** Throws `input_invalid`. */
export function parsePublicUrl(text: string): PublicUrl {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isBare =
    url !== undefined && url.pathname === "/" && url.search + url.hash + url.username + url.password === "";
  if (!isBare || !/^https?:$/.test(url.protocol)) {
    const fix = "use the scheme and host that browsers see, without a path, such as https://rookery.example";
    throw new RookeryError("input_invalid", `the public URL "${text}" is invalid: ${fix}`);
  }
  return { origin: url.origin, host: url.host, isSecure: url.protocol === "https:" };
}
