/**
 * The model's names for server tools: `server__tool`, within the rules of every provider.
 *
 * A name depends only on the server and tool names, so it is the same in every process. A name without loss can be
 * split: the server is the part before the first `__`. Any other name ends with a hash of both names, which no plain
 * name may end with; the connection's table maps it back.
 */
import { createHash } from "node:crypto";

const MAX_NAME_LENGTH = 64;
const HASH_LENGTH = 12;
const HASH_SUFFIX = /_[0-9a-f]{12}$/;
/** How many characters of the server name a shortened name keeps. */
const MAX_SERVER_LENGTH = 20;

export function toolName(server: string, tool: string): string {
  const name = `${server}__${tool}`;
  const isPlain = /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(server) && /^[a-zA-Z0-9_-]+$/.test(tool);
  const isUnambiguous = !server.includes("__") && !server.endsWith("_") && !HASH_SUFFIX.test(name);
  if (isPlain && isUnambiguous && name.length <= MAX_NAME_LENGTH) return name;
  const shortServer = replaceInvalidCharacters(server)
    .slice(0, MAX_SERVER_LENGTH)
    .replace(/^[^a-zA-Z_]/, "_");
  const shortName = `${shortServer}__${replaceInvalidCharacters(tool)}`.slice(0, MAX_NAME_LENGTH - HASH_LENGTH - 1);
  return `${shortName}_${hashNames(server, tool)}`;
}

/** Returns undefined if the name alone does not identify the tool. */
export function splitToolName(name: string): { readonly server: string; readonly tool: string } | undefined {
  const at = name.indexOf("__");
  if (at <= 0 || HASH_SUFFIX.test(name)) return undefined;
  const [server, tool] = [name.slice(0, at), name.slice(at + 2)];
  return toolName(server, tool) === name ? { server, tool } : undefined;
}

function replaceInvalidCharacters(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, "_") || "_";
}

/** Includes the length, so that no two pairs produce the same text. */
function hashNames(server: string, tool: string): string {
  return createHash("sha256").update(`${server.length}:${server}${tool}`).digest("hex").slice(0, HASH_LENGTH);
}
