/** Finds the server that a command names among those that files declare, and says how one is reached, without its secrets. */
import { didYouMean } from "../../config/nearest.ts";
import { RookeryError } from "../../domain/errors.ts";
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import type { McpServerSpec, RemoteServerSpec } from "../../domain/mcp.ts";
import type { ServersFound } from "../../rookery.ts";
import { usageError } from "../exit.ts";

/** Throws `mcp_unknown`, or says why it cannot be used as it stands. */
export function findServerSpec({ declared, specs }: ServersFound, name: string): McpServerSpec {
  const { file } = findDeclaredServer(declared, name);
  const spec = specs.find((one) => one.name === name);
  if (spec === undefined)
    throw new RookeryError("mcp_unavailable", `${name} is switched off: see mcp.${name} in ${file}`);
  if (spec.type === "unusable") throw new RookeryError("config_invalid", spec.reason);
  return spec;
}

/** Throws `mcp_unknown`. */
export function findDeclaredServer(declared: readonly DeclaredServer[], name: string): DeclaredServer {
  const found = declared.find((one) => one.name === name);
  if (found !== undefined) return found;
  const guess = didYouMean(
    name,
    declared.map((one) => one.name),
  );
  throw new RookeryError(
    "mcp_unknown",
    `there is no MCP server "${name}"${guess} here; see what there is: rookery mcp list`,
  );
}

/** Throws `usage` for a server that is a program of this machine. */
export function requireRemoteServer(spec: McpServerSpec): RemoteServerSpec {
  if (spec.type === "http" || spec.type === "sse") return spec;
  throw usageError(`${spec.name} is a program that is started here: it has no login; what it needs goes in its env`);
}

/** As it was written, so that a variable is shown by its name. */
export function formatServerLocation(declared: DeclaredServer): string {
  const { url, command } = urlOrCommand(declared);
  if (url !== undefined) return withoutSecrets(url);
  return command.map((word, index) => quoteWord(isSecretWord(command, index) ? maskSecret(word) : word)).join(" ");
}

/** As a shell takes it, but for variables, which are to be seen as they are. */
function quoteWord(word: string): string {
  return word !== "" && !/[\s'"`\\;&|<>()*?#!]/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function urlOrCommand(declared: DeclaredServer): { url?: string; command: readonly string[] } {
  if (declared.source !== ".mcp.json") {
    const { url, command = [] } = declared.table;
    return { ...(url !== undefined && { url }), command };
  }
  const { url, command, args } = declared.entry;
  const words = [command, ...(Array.isArray(args) ? (args as unknown[]) : [])];
  return {
    ...(typeof url === "string" && { url }),
    command: words.filter((word) => typeof word === "string"),
  };
}

/** Neither who one is, nor what is asked for, which often is a key. */
function withoutSecrets(url: string): string {
  return url.replace(/^([\w+.-]+:\/\/)[^/?#]*@/, "$1…@").replace(/[?#][^]*/, "?…");
}

const SECRET_NAME = /key|token|secret|passw|auth|credential|bearer/i;

/** `--api-key=…`, what follows `--api-key`, and `API_KEY=…`; a variable is only named. */
function isSecretWord(words: readonly string[], index: number): boolean {
  const word = words[index] ?? "";
  if (index === 0 || /^\$(\w+|\{\w+\})$/.test(word)) return false;
  const [name, value] = splitOnce(word);
  if (value !== undefined) return SECRET_NAME.test(name);
  const before = words[index - 1] ?? "";
  return !word.startsWith("-") && /^--?\w/.test(before) && !before.includes("=") && SECRET_NAME.test(before);
}

function maskSecret(word: string): string {
  const [name, value] = splitOnce(word);
  return value === undefined ? "…" : `${name}=…`;
}

function splitOnce(word: string): [string, string | undefined] {
  const at = word.indexOf("=");
  return at === -1 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)];
}
