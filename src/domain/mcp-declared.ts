/** How files declare MCP servers, before variables are filled in: as much of it as configuration and connections share. */
import { messageOf, RookeryError } from "./errors.ts";

export type DeclaredServer = TableServer | EntryServer;

interface DeclaredServerBase {
  readonly name: string;
  readonly file: string;
}

/** From a `rookery.toml`: that of the repository, or the user's own. */
export interface TableServer extends DeclaredServerBase {
  readonly source: "rookery.toml" | "user";
  readonly table: McpServerTable;
}

/** From a `.mcp.json`, which other programs read too: what stands there was not looked at yet. */
export interface EntryServer extends DeclaredServerBase {
  readonly source: ".mcp.json";
  readonly entry: Readonly<Record<string, unknown>>;
}

/** `[mcp.NAME]`, with either `command` or `url`. Times are in seconds. */
export interface McpServerTable {
  readonly command?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
  readonly url?: string | undefined;
  readonly type?: "http" | "sse" | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly oauth?: OAuthTable | undefined;
  readonly timeout?: number | undefined;
  readonly connect_timeout?: number | undefined;
  readonly defer?: boolean | undefined;
  readonly enabled?: boolean | undefined;
}

export interface OAuthTable {
  readonly client_id?: string | undefined;
  readonly client_secret?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  readonly callback_port?: number | undefined;
}

/** The servers of a `.mcp.json` by name; undefined where it lists none. Throws `config_invalid` for a broken file. */
export function parseMcpEntries(text: string, file: string): ReadonlyMap<string, EntryServer> | undefined {
  const value = parseJson(text, file);
  if (!isTable(value)) throw configInvalidAt(file, [], "expected an object with mcpServers");
  const { mcpServers } = value;
  if (mcpServers === undefined) return undefined;
  if (!isTable(mcpServers)) throw configInvalidAt(file, ["mcpServers"], "expected an object with a server by each name");
  return new Map(
    Object.entries(mcpServers).map(([name, entry]) => {
      if (!isTable(entry)) throw configInvalidAt(file, ["mcpServers", name], "expected an object with command or url");
      if (name === "") throw configInvalidAt(file, ["mcpServers"], "a server has no name");
      return [name, { name, source: ".mcp.json", file, entry }];
    }),
  );
}

/** Names the file and the place in it. */
export function configInvalidAt(file: string, path: readonly PropertyKey[], why: string, cause?: unknown): RookeryError {
  const at = path.length === 0 ? "" : ` ${path.map(String).join(".")}:`;
  return new RookeryError("config_invalid", `${file}:${at} ${why}`, { cause });
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text, refusePrototype);
  } catch (cause) {
    throw configInvalidAt(file, [], `not JSON that can be used: ${messageOf(cause)}`, cause);
  }
}

/** zod 4.6 leaves out a key of that name in silence. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new Error("nothing can be called __proto__");
  return value;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
