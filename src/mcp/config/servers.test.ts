import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { entriesOf, type DeclaredServer, type ServerTable } from "../../domain/mcp-declared.ts";
import { serversFor } from "./index.ts";

const PLACE = { cwd: "/project", env: { TOKEN: "s3cret", WORKSPACE: "/elsewhere" } };

/** As configuration gives them. */
function config(tables: Readonly<Record<string, ServerTable>>, json = "{}"): { mcp: Map<string, DeclaredServer> } {
  const mcp = new Map<string, DeclaredServer>(entriesOf(json, ".mcp.json"));
  for (const [name, table] of Object.entries(tables)) {
    mcp.set(name, { name, source: "rookery.toml", file: "rookery.toml", table });
  }
  return { mcp };
}

it.each<[string, ServerTable, object]>([
  [
    "a program",
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
  ["a program and nothing else", { command: ["c"] }, { type: "stdio", name: "s", command: "c", args: [], env: {} }],
  [
    "a folder that is said in full",
    { command: ["c"], cwd: "${OTHER:-/opt/tools}" },
    { type: "stdio", name: "s", command: "c", args: [], env: {}, cwd: "/opt/tools" },
  ],
  [
    "an address",
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
    "an address of the old kind",
    { url: "http://127.0.0.1:1/sse", type: "sse" },
    { type: "sse", name: "s", url: "http://127.0.0.1:1/sse", headers: {} },
  ],
])("%s is made usable", (_, table, expected) => {
  expect(serversFor(config({ s: table }), {}, PLACE)).toEqual([expected]);
});

it.each<[string, ServerTable, string]>([
  ["a command", { command: ["$GONE"] }, "rookery.toml: mcp.s.command.0: the environment variable GONE is not set"],
  ["a variable", { command: ["c"], env: { K: "${GONE}" } }, "rookery.toml: mcp.s.env.K: the environment variable GONE"],
  ["a folder", { command: ["c"], cwd: "$GONE" }, "rookery.toml: mcp.s.cwd: the environment variable GONE"],
  ["a header", { url: "http://a", headers: { K: "$GONE" } }, "rookery.toml: mcp.s.headers.K: the environment"],
  ["a secret", { url: "http://a", oauth: { client_secret: "$GONE" } }, "rookery.toml: mcp.s.oauth.client_secret: the"],
  ["an address", { url: "$TOKEN" }, "rookery.toml: mcp.s.url: expected an http or https URL"],
  ["an address of another kind", { url: "file:///a" }, "rookery.toml: mcp.s.url: expected an http or https URL"],
])("%s that cannot be used makes its server unusable, and no other", (_, table, reason) => {
  expect(serversFor(config({ s: table, other: { command: ["c"] } }), {}, PLACE)).toEqual([
    { type: "unusable", name: "s", reason: expect.stringContaining(reason) as unknown },
    { type: "stdio", name: "other", command: "c", args: [], env: {} },
  ]);
});

it("what only another program understands in a .mcp.json is unusable, and the rest of it is used", () => {
  const json = `{"mcpServers":{"a":{"type":"ws","url":"ws://a"},"b":{"command":"$GONE"},"c":{"command":"c"}}}`;
  expect(serversFor(config({}, json), {}, PLACE)).toEqual([
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
  ["all that are switched on", {}, ["a", "b", "c"]],
  ["those that it names", { mcp: ["c", "a"] }, ["a", "c"]],
  ["none", { mcp: [] }, []],
  ["not one that is switched off, though it names it", { mcp: ["off", "b"] }, ["b"]],
])("an agent gets %s", (_, agent, expected) => {
  const off = { command: ["c"], enabled: false } as const;
  const declared = config(
    { b: { command: ["c"], enabled: true }, off, c: { command: ["c"] } },
    `{"mcpServers":{"a":{"command":"c"}}}`,
  );
  expect(serversFor(declared, agent, PLACE).map(({ name }) => name)).toEqual(expected);
});

it("a table that switches a server of .mcp.json off does so", () => {
  const declared = config({ a: { command: ["c"], enabled: false } }, `{"mcpServers":{"a":{"command":"c"}}}`);
  expect(serversFor(declared, {}, PLACE)).toEqual([]);
});

it("loads nothing but the domain, and so no MCP SDK", () => {
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
