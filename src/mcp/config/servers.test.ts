import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { parseMcpEntries, type DeclaredServer, type McpServerTable } from "../../domain/mcp-declared.ts";
import { selectServers } from "./index.ts";

const PLACE = { cwd: "/project", env: { TOKEN: "s3cret", WORKSPACE: "/elsewhere" } };

/** Builds declarations as the configuration does. */
function config(tables: Readonly<Record<string, McpServerTable>>, json = "{}"): { mcp: Map<string, DeclaredServer> } {
  const mcp = new Map<string, DeclaredServer>(parseMcpEntries(json, ".mcp.json"));
  for (const [name, table] of Object.entries(tables)) {
    mcp.set(name, { name, source: "rookery.toml", file: "rookery.toml", table });
  }
  return { mcp };
}

it.each<[string, McpServerTable, object]>([
  [
    "a command",
    { command: ["$TOKEN/bin", "--in", "${WORKSPACE}"], env: { K: "a$$b" }, cwd: "tools", timeout: 1.5, defer: true },
    {
      type: "stdio",
      name: "s",
      command: "s3cret/bin",
      args: ["--in", "/project"],
      env: { K: "a$b" },
      cwd: "/project/tools",
      timeoutMs: 1_500,
      defer: true,
    },
  ],
  ["a command without options", { command: ["c"] }, { type: "stdio", name: "s", command: "c", args: [], env: {} }],
  [
    "an absolute working directory",
    { command: ["c"], cwd: "${OTHER:-/opt/tools}" },
    { type: "stdio", name: "s", command: "c", args: [], env: {}, cwd: "/opt/tools" },
  ],
  [
    "a URL",
    {
      url: "https://${HOST:-web.invalid}/mcp",
      headers: { Authorization: "Bearer $TOKEN" },
      oauth: { client_id: "me", client_secret: "$TOKEN", scopes: ["read"], callback_port: 8123 },
      connect_timeout: 2,
    },
    {
      type: "http",
      name: "s",
      url: "https://web.invalid/mcp",
      headers: { Authorization: "Bearer s3cret" },
      oauth: { clientId: "me", clientSecret: "s3cret", scopes: ["read"], callbackPort: 8123 },
      connectTimeoutMs: 2_000,
    },
  ],
  [
    "an SSE URL",
    { url: "http://127.0.0.1:1/sse", type: "sse" },
    { type: "sse", name: "s", url: "http://127.0.0.1:1/sse", headers: {} },
  ],
])("resolves %s", (_, table, expected) => {
  expect(selectServers(config({ s: table }), {}, PLACE)).toEqual([expected]);
});

it.each<[string, McpServerTable, string]>([
  ["a command", { command: ["$GONE"] }, "rookery.toml: mcp.s.command.0: the environment variable GONE is not set"],
  [
    "an environment value",
    { command: ["c"], env: { K: "${GONE}" } },
    "rookery.toml: mcp.s.env.K: the environment variable GONE",
  ],
  ["a working directory", { command: ["c"], cwd: "$GONE" }, "rookery.toml: mcp.s.cwd: the environment variable GONE"],
  ["a header", { url: "http://a", headers: { K: "$GONE" } }, "rookery.toml: mcp.s.headers.K: the environment"],
  ["a secret", { url: "http://a", oauth: { client_secret: "$GONE" } }, "rookery.toml: mcp.s.oauth.client_secret: the"],
  ["a URL", { url: "$TOKEN" }, "rookery.toml: mcp.s.url: expected an http or https URL"],
  ["a URL with another scheme", { url: "file:///a" }, "rookery.toml: mcp.s.url: expected an http or https URL"],
])("marks a server unusable, and no other, if it has %s that cannot be resolved", (_, table, reason) => {
  expect(selectServers(config({ s: table, other: { command: ["c"] } }), {}, PLACE)).toEqual([
    { type: "unusable", name: "s", reason: expect.stringContaining(reason) as unknown },
    { type: "stdio", name: "other", command: "c", args: [], env: {} },
  ]);
});

it("marks unsupported entries of a .mcp.json unusable and uses the others", () => {
  const json = `{"mcpServers":{"a":{"type":"ws","url":"ws://a"},"b":{"command":"$GONE"},"c":{"command":"c"}}}`;
  expect(selectServers(config({}, json), {}, PLACE)).toEqual([
    { type: "unusable", name: "a", reason: expect.stringContaining(".mcp.json: mcpServers.a.type: ") as unknown },
    {
      type: "unusable",
      name: "b",
      reason: ".mcp.json: mcpServers.b.command: the environment variable GONE is not set",
    },
    { type: "stdio", name: "c", command: "c", args: [], env: {} },
  ]);
});

it.each([
  ["all enabled servers", {}, ["a", "b", "c"]],
  ["the servers that it names", { mcp: ["c", "a"] }, ["a", "c"]],
  ["none", { mcp: [] }, []],
  ["no disabled server, even if it names one", { mcp: ["off", "b"] }, ["b"]],
])("gives an agent %s", (_, agent, expected) => {
  const off = { command: ["c"], enabled: false } as const;
  const declared = config(
    { b: { command: ["c"], enabled: true }, off, c: { command: ["c"] } },
    `{"mcpServers":{"a":{"command":"c"}}}`,
  );
  expect(selectServers(declared, agent, PLACE).map(({ name }) => name)).toEqual(expected);
});

it("lets a table disable a server of .mcp.json", () => {
  const declared = config({ a: { command: ["c"], enabled: false } }, `{"mcpServers":{"a":{"command":"c"}}}`);
  expect(selectServers(declared, {}, PLACE)).toEqual([]);
});

it("loads only the domain, and not the MCP SDK", () => {
  const folder = new URL(".", import.meta.url);
  const files = readdirSync(folder).filter((file) => !file.endsWith(".test.ts"));
  const imported = files.flatMap((file) =>
    Array.from(
      readFileSync(new URL(file, folder), "utf8").matchAll(/^(?:import|export) (?!type )[^;]*? from "([^"]+)"/gm),
      ([, from = ""]) => from,
    ),
  );
  expect(imported.filter((from) => !/^(node:|\.\/|\.\.\/\.\.\/domain\/)/.test(from))).toEqual(["zod"]);
});
