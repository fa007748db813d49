/** Reads a `.mcp.json` that a person named: the servers that it lists, or what is wrong with it. */
import { readFile } from "node:fs/promises";
import { messageOf, RookeryError } from "../../domain/errors.ts";
import { entriesOf, invalid } from "../../domain/mcp-declared.ts";
import type { RemoteServerSpec, StdioServerSpec } from "../../domain/mcp.ts";
import { specOfEntry } from "./entry.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import type { Place } from "./expansion.ts";

/** Rejects with `config_invalid`, which names the file and the key. */
export async function readMcpFile(
  file: string,
  env: EnvironmentVariables,
): Promise<(StdioServerSpec | RemoteServerSpec)[]> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new RookeryError("config_invalid", `${file} cannot be read: ${messageOf(cause)}`, { cause });
  }
  return parseMcpFile(text, file, { env });
}

export function parseMcpFile(text: string, file: string, place: Place): (StdioServerSpec | RemoteServerSpec)[] {
  const entries = entriesOf(text, file);
  if (entries === undefined) throw invalid(file, ["mcpServers"], "expected an object, but it is missing");
  return Array.from(entries.values(), (entry) => specOfEntry(entry, place));
}
