/** Finds declared MCP servers by name, and formats their location without secrets. */
import { didYouMean } from "../../config/nearest.ts";
import { RookeryError } from "../../domain/errors.ts";
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import type { McpServerSpec, RemoteServerSpec } from "../../domain/mcp.ts";
import type { ServersFound } from "../../rookery.ts";
import { usageError } from "../exit.ts";
import { singleQuote } from "../shell-quote.ts";
import { splitAssignment } from "../split-assignment.ts";

/** Throws `mcp_unknown`, `mcp_unavailable` for a disabled server, or `config_invalid`. */
export function findServerSpec({ declared, specs }: ServersFound, name: string): McpServerSpec {
  const { file } = findDeclaredServer(declared, name);
  const spec = specs.find((one) => one.name === name);
  if (spec === undefined) throw new RookeryError("mcp_unavailable", `${name} is disabled: see mcp.${name} in ${file}`);
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
    `no MCP server "${name}"${guess} is declared here; list them: rookery mcp list`,
  );
}

/** Throws `usage` for a local program. */
export function requireRemoteServer(spec: McpServerSpec): RemoteServerSpec {
  if (spec.type === "http" || spec.type === "sse") return spec;
  throw usageError(`${spec.name} is a local program and has no login; pass its credentials in env`);
}

/** Uses the declaration as written, so that variables appear by name. */
export function formatServerLocation(declared: DeclaredServer): string {
  const { url, command } = urlOrCommand(declared);
  if (url !== undefined) return withoutSecrets(url);
  return command.map((word, index) => quoteWord(isSecretWord(command, index) ? maskSecret(word) : word)).join(" ");
}

/** Quotes a word for a shell, but keeps variables readable. */
function quoteWord(word: string): string {
  return word !== "" && !/[\s'"`\\;&|<>()*?#!]/.test(word) ? word : singleQuote(word);
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

/** Removes user info and the query, which often contain keys. */
function withoutSecrets(url: string): string {
  return url.replace(/^([\w+.-]+:\/\/)[^/?#]*@/, "$1…@").replace(/[?#][^]*/, "?…");
}

const SECRET_NAME = /key|token|secret|passw|auth|credential|bearer/i;

/** True for `--api-key=…`, the word after `--api-key`, and `API_KEY=…`. Variable names are not secret. */
function isSecretWord(words: readonly string[], index: number): boolean {
  const word = words[index] ?? "";
  if (index === 0 || /^\$(\w+|\{\w+\})$/.test(word)) return false;
  const [name, value] = splitAssignment(word);
  if (value !== undefined) return SECRET_NAME.test(name);
  const before = words[index - 1] ?? "";
  return !word.startsWith("-") && /^--?\w/.test(before) && !before.includes("=") && SECRET_NAME.test(before);
}

function maskSecret(word: string): string {
  const [name, value] = splitAssignment(word);
  return value === undefined ? "…" : `${name}=…`;
}
