/** Writes the MCP servers for Claude Code to a file: they hold secrets, and a command line is public. */
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ReachableServer } from "../program/index.ts";
import { asRecord, recordAt } from "./record-fields.ts";

export interface WrittenServers extends AsyncDisposable {
  /** Path of the file. Undefined without servers. */
  readonly file: string | undefined;
  /** Names of servers that a trusted repository declares itself and that Rookery provides too. */
  readonly duplicates: readonly string[];
}

export async function writeServers(servers: readonly ReachableServer[], cwd: string): Promise<WrittenServers> {
  const twice = await readServerNamesUpward(cwd);
  if (servers.length === 0)
    return { file: undefined, duplicates: twice, [Symbol.asyncDispose]: () => Promise.resolve() };
  const folder = await mkdtemp(join(tmpdir(), "rookery-claude-"));
  const remove = () => rm(folder, { recursive: true, force: true });
  const file = join(folder, "mcp.json");
  const mcpServers = Object.fromEntries(servers.map((spec) => [spec.name, toServerEntry(spec)]));
  try {
    await writeFile(file, JSON.stringify({ mcpServers }), { mode: 0o600, flag: "wx" });
  } catch (error) {
    await remove();
    throw error;
  }
  return { file, duplicates: twice, [Symbol.asyncDispose]: remove };
}

function toServerEntry(spec: ReachableServer) {
  if (spec.type !== "stdio") return { type: spec.type, url: spec.url, headers: spec.headers };
  const { command, args, env, cwd } = spec;
  if (cwd === undefined) return { type: "stdio", command, args, env };
  return { type: "stdio", command: "/bin/sh", args: ["-c", START_IN_FOLDER, cwd, command, ...args], env };
}

/** Starts a server in its own working directory; Claude Code would use its own. */
const START_IN_FOLDER = 'cd "$0" && exec "$@"';
const MAX_FILE_BYTES = 1024 * 1024;

/** Returns the server names of every `.mcp.json` from here up. Claude Code loads those without asking (2.1.325). */
async function readServerNamesUpward(folder: string): Promise<string[]> {
  const above = dirname(folder);
  const here = await readServerNames(join(folder, ".mcp.json"));
  return [...new Set(above === folder ? here : [...here, ...(await readServerNamesUpward(above))])];
}

async function readServerNames(file: string): Promise<string[]> {
  try {
    const found = await stat(file);
    if (!found.isFile() || found.size > MAX_FILE_BYTES) return [];
    const servers = recordAt(asRecord(JSON.parse(await readFile(file, "utf8"))), "mcpServers");
    return Object.keys(servers ?? {});
  } catch {
    return []; // missing or unreadable, for the program too
  }
}
