/**
 * What a server's tool is called by models: `server__tool`, within the rules of every provider.
 *
 * A name depends on the server's and the tool's name alone, so it is the same in every process whatever else is up. Where
 * nothing is lost it reads back: the server is what stands before the first `__`. Where something would be lost, it ends
 * in a hash of both names, which no other name may end in; the connection's table leads back.
 */
import { createHash } from "node:crypto";

const LONGEST = 64;
const HASH = 12;
const HASHED = /_[0-9a-f]{12}$/;
/** How much of a server's name is shown where not all of it can be. */
const SERVER_SHOWN = 20;

export function toolName(server: string, tool: string): string {
  const name = `${server}__${tool}`;
  const isPlain = /^[a-zA-Z_][a-zA-Z0-9_-]*$/.test(server) && /^[a-zA-Z0-9_-]+$/.test(tool);
  const isUnambiguous = !server.includes("__") && !server.endsWith("_") && !HASHED.test(name);
  if (isPlain && isUnambiguous && name.length <= LONGEST) return name;
  const shownServer = fitting(server)
    .slice(0, SERVER_SHOWN)
    .replace(/^[^a-zA-Z_]/, "_");
  const shown = `${shownServer}__${fitting(tool)}`.slice(0, LONGEST - HASH - 1);
  return `${shown}_${hashOf(server, tool)}`;
}

/** Undefined where the name alone does not tell. */
export function splitToolName(name: string): { readonly server: string; readonly tool: string } | undefined {
  const at = name.indexOf("__");
  if (at <= 0 || HASHED.test(name)) return undefined;
  const [server, tool] = [name.slice(0, at), name.slice(at + 2)];
  return toolName(server, tool) === name ? { server, tool } : undefined;
}

function fitting(text: string): string {
  return text.replaceAll(/[^a-zA-Z0-9_-]/g, "_") || "_";
}

/** The length goes in too: no two pairs of names make one text. */
function hashOf(server: string, tool: string): string {
  return createHash("sha256").update(`${server.length}:${server}${tool}`).digest("hex").slice(0, HASH);
}
