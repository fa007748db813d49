/** URLs of remotes: checks them, removes credentials, and derives the names of mirrors. */
import { createHash } from "node:crypto";
import { isAbsolute } from "node:path";
import { RookeryError } from "../../domain/index.ts";

/** Protocols that git may use for a remote. Others, such as `ext::`, can run any command. */
export const REMOTE_PROTOCOLS = "https:http:ssh:git:file";

const MAX_LENGTH = 2_000;

/**
 * Returns the URL without credentials, because it goes to the log and to other hosts: each host has its own, in the git
 * configuration of its user. Accepts `https:`, `http:`, `ssh:`, `git:` and `file:` URLs, `user@host:path` and absolute
 * paths. Throws `input_invalid`.
 */
export function parseRemoteUrl(text: string): string {
  if (text.length > MAX_LENGTH || /[\0-\x20\x7f]/.test(text) || text !== text.toWellFormed()) throw invalidUrl(text);
  if (isAbsolute(text)) return text;
  const [, protocol = "", userInfo = "", rest = ""] = /^([a-z]+):\/\/(?:([^/]*)@)?(.+)$/.exec(text) ?? [];
  if (protocol !== "") {
    if (!REMOTE_PROTOCOLS.split(":").includes(protocol) || rest.startsWith("-")) throw invalidUrl(text);
    const user = protocol === "ssh" ? userInfo.replace(/[:@].*$/, "") : ""; // in an HTTP URL even the user may be a token
    return `${protocol}://${user === "" ? "" : `${user}@`}${rest}`;
  }
  if (/^(?:[\w.][\w.-]*@)?[\w[][\w.:[\]-]*:(?![:/]{2})[^-:]/.test(text) && !text.includes("::")) return text;
  throw invalidUrl(text);
}

/** Removes the credentials of URLs from a message of git. */
export function redactUrls(text: string): string {
  return text.replace(/\b([a-z]{2,10}:\/\/)[^\s/'"]{1,500}@/gi, "$1");
}

/** Returns a folder name that is unique for the URL, such as `project-1f0c2a9b3d`. */
export function mirrorName(url: string): string {
  const path = url.replace(/\/+$/, "").replace(/(?:\.git)?$/, "");
  const last = /[^/:\\]*$/.exec(path)?.[0].replaceAll(/[^\w.-]/g, "-") ?? "";
  const name = last.replace(/^[.-]+/, "").slice(0, 40) || "repository";
  return `${name}-${createHash("sha256").update(path).digest("hex").slice(0, 10)}`;
}

function invalidUrl(text: string): RookeryError {
  const shown = JSON.stringify(redactUrls(text.slice(0, 200).toWellFormed()));
  return new RookeryError(
    "input_invalid",
    `${shown} is not the URL of a git remote that other hosts can use; use an https, ssh, git or file URL, ` +
      "user@host:path, or an absolute path",
  );
}
