/** Formats how a declared MCP server is reached, without secrets. */
import { maskUrl, maskWords } from "../../domain/mask-secrets.ts";
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import { singleQuote } from "../../stdx/shell-quote.ts";

/** Uses the declaration as written, so that variables appear by name. */
export function formatServerLocation(declared: DeclaredServer): string {
  const { url, command } = urlOrCommand(declared);
  if (url !== undefined) return maskUrl(url);
  return maskWords(command).map(quoteWord).join(" ");
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
