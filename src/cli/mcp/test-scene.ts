/** For tests: the command in a trusted repository that declares MCP servers. */
import { fileURLToPath } from "node:url";
import type { Script } from "../../testing/index.ts";
import { openCommandFixture, type CommandFixture, type SpawnOptions, type RunningCommand } from "../test-command.ts";

export const SCRIPTED = fileURLToPath(new URL("../../mcp/test-server.mjs", import.meta.url));
export const EVERYTHING = fileURLToPath(
  new URL("../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js", import.meta.url),
);

export interface ServerTables {
  readonly [name: string]: Readonly<Record<string, unknown>>;
}

export interface SceneOptions {
  readonly script?: Script;
  readonly files?: Readonly<Record<string, string>>;
  /** Text before the servers in `rookery.toml`. */
  readonly toml?: string;
}

/** Declares a server that Node runs. */
export function stdio(...words: string[]): { command: string[] } {
  return { command: [process.execPath, ...words] };
}

export async function openMcpFixture(
  servers: ServerTables,
  { script = [], files = {}, toml = "" }: SceneOptions = {},
): Promise<CommandFixture> {
  const tables = Object.entries(servers).map(([name, table]) => `[mcp.${name}]\n${tomlOf(table)}`);
  const fixture = await openCommandFixture(script, {
    files: { "rookery.toml": [toml, ...tables].join("\n"), ...files },
  });
  await fixture.rookery(["trust"]);
  return fixture;
}

/** JSON values are valid TOML, except objects. */
function tomlOf(table: Readonly<Record<string, unknown>>): string {
  return Object.entries(table)
    .map(([key, value]) => `${key} = ${inline(value)}\n`)
    .join("");
}

function inline(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)} = ${inline(one)}`);
  return `{ ${pairs.join(", ")} }`;
}

/** Fetches the page that the command printed. */
export async function openPrintedPage(running: RunningCommand): Promise<string> {
  const [, url = ""] = await running.waitForOutput(/^(https?:\/\/\S+)\r?$/m);
  return (await fetch(url)).text();
}

export type { CommandFixture, SpawnOptions, RunningCommand };
