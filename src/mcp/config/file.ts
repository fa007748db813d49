/** Reads a `.mcp.json` file that the user named. */
import { readFile } from "node:fs/promises";
import { messageOf, RookeryError } from "../../domain/errors.ts";
import { parseMcpEntries, configInvalidAt } from "../../domain/mcp-declared.ts";
import type { RemoteServerSpec, StdioServerSpec } from "../../domain/mcp.ts";
import { resolveEntry } from "./entry.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import type { ExpansionContext } from "./expansion.ts";

/** Rejects with `config_invalid` and the file and key. */
export async function readServerFile(
  file: string,
  env: EnvironmentVariables,
): Promise<(StdioServerSpec | RemoteServerSpec)[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new RookeryError("config_invalid", `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
  return parseServerFile(text, file, { env });
}

export function parseServerFile(
  text: string,
  file: string,
  place: ExpansionContext,
): (StdioServerSpec | RemoteServerSpec)[] {
  const entries = parseMcpEntries(text, file);
  if (entries === undefined) throw configInvalidAt(file, ["mcpServers"], "expected an object, but it is missing");
  return Array.from(entries.values(), (entry) => resolveEntry(entry, place));
}
