/**
 * Declarations of MCP servers in files, before variables are expanded: the part that configuration and connections
 * share.
 */
import { messageOf, RookeryError } from "./errors.ts";

export type DeclaredServer = TableServer | EntryServer;

interface DeclaredServerBase {
  readonly name: string;
  readonly file: string;
}

/** A server from the `rookery.toml` of the repository or of the user, or from an agent that a session defines. */
export interface TableServer extends DeclaredServerBase {
  readonly source: "rookery.toml" | "user" | "session";
  readonly table: McpServerTable;
}

/** A server from a `.mcp.json`, which other programs read too. The entry is not validated yet. */
export interface EntryServer extends DeclaredServerBase {
  readonly source: ".mcp.json";
  readonly entry: Readonly<Record<string, unknown>>;
}

/** The table `[mcp.NAME]`, with either `command` or `url`. Times are in seconds. */
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

/**
 * Parses the servers of a `.mcp.json` by name. Returns undefined if it lists none. Throws `config_invalid` for an
 * invalid file.
 */
export function parseMcpEntries(text: string, file: string): ReadonlyMap<string, EntryServer> | undefined {
  const value = parseJson(text, file);
  if (!isTable(value)) throw configInvalidAt(file, [], "expected an object with mcpServers");
  const { mcpServers } = value;
  if (mcpServers === undefined) return undefined;
  if (!isTable(mcpServers))
    throw configInvalidAt(file, ["mcpServers"], "expected an object with one entry per server name");
  return new Map(
    Object.entries(mcpServers).map(([name, entry]) => {
      if (!isTable(entry)) throw configInvalidAt(file, ["mcpServers", name], "expected an object with command or url");
      if (name === "") throw configInvalidAt(file, ["mcpServers"], "a server has no name");
      return [name, { name, source: ".mcp.json", file, entry }];
    }),
  );
}

/** Creates a `config_invalid` error that names the file and the path in it. */
export function configInvalidAt(
  file: string,
  path: readonly PropertyKey[],
  why: string,
  cause?: unknown,
): RookeryError {
  const at = path.length === 0 ? "" : ` ${path.map(String).join(".")}:`;
  return new RookeryError("config_invalid", `${file}:${at} ${why}`, { cause });
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text, refusePrototype);
  } catch (cause) {
    throw configInvalidAt(file, [], `not valid JSON: ${messageOf(cause)}`, cause);
  }
}

/** zod 4.6 silently drops a key of this name. */
function refusePrototype(key: string, value: unknown): unknown {
  if (key === "__proto__") throw new Error("__proto__ cannot be used as a name");
  return value;
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
