// own process: its commands replace process.stdout.write
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterEach, expect, it } from "vitest";
import { BUILT_COMMAND, type CommandFixture } from "../test-command.ts";
import { openMcpFixture, SCRIPTED, stdio } from "./test-scene.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const TOML = '[agents.x]\nmodel = "anthropic/m"\ntools = { allow = ["write", "s__e*"], deny = ["s__fail"] }\n';

/** Connects the official client to the built command and collects its stderr. */
async function connected(...args: string[]) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [BUILT_COMMAND, "mcp", "serve", ...args],
    cwd: fixture.repository.path,
    env: { ...fixture.env },
    stderr: "pipe",
  });
  let said = "";
  const client = new Client({ name: "test", version: "1" });
  transport.stderr?.on("data", (bytes: Buffer) => (said += bytes.toString()));
  await client.connect(transport);
  return {
    client,
    session: () => /session (\S+) serves/.exec(said)?.[1] ?? "",
    [Symbol.asyncDispose]: () => client.close(),
  };
}

it("offers only the tools that the filter of the agent allows", async () => {
  fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { toml: TOML });
  await using served = await connected("--agent", "x", "--permissions", "all");
  const { tools } = await served.client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["write", "s__echo"]));
  for (const { name } of tools) expect(name).toMatch(/^(write|read_result|s__e\w+)$/);
  expect(await served.client.callTool({ name: "s__echo", arguments: { text: "hi" } })).toMatchObject({
    content: [{ type: "text", text: "hi" }],
  });
  expect(await served.client.callTool({ name: "s__fail", arguments: {} })).toMatchObject({ isError: true });
  await served.client.callTool({ name: "write", arguments: { path: "a.txt", content: "b" } });
  expect(await fixture.repository.read("a.txt")).toBe("b");
});

it("waits for rookery answer if a call needs a permission", async () => {
  fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { toml: TOML });
  await using served = await connected("--agent", "x");
  const asked = fixture.start(["sessions", "events", served.session(), "--follow", "--json"]);
  const write = (path: string) => served.client.callTool({ name: "write", arguments: { path, content: "b" } });
  const allowed = write("a.txt");
  await asked.waitForOutput(/"requestId":"r1"/);
  expect(await fixture.rookery(["answer", served.session(), "r1", "allow"])).toMatchObject({ code: 0 });
  expect(await allowed).not.toMatchObject({ isError: true });
  expect(await fixture.repository.read("a.txt")).toBe("b");
  const refused = write("c.txt");
  await asked.waitForOutput(/"requestId":"r2"/);
  await fixture.rookery(["answer", served.session(), "r2", "deny", "--message", "not now"]);
  expect(await refused).toMatchObject({ isError: true, content: [{ type: "text", text: "not now" }] });
});

it("writes only the protocol to stdout and exits at the end of stdin", async () => {
  fixture = await openMcpFixture({ s: stdio(SCRIPTED) });
  const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } } }; // prettier-ignore
  const { code, stdout, stderr } = await fixture.rookery(["mcp", "serve"], { input: `${JSON.stringify(hello)}\n` });
  expect(code).toBe(0);
  for (const line of stdout.split("\n").filter((one) => one !== "")) expect(JSON.parse(line)).toHaveProperty("jsonrpc");
  expect(stderr).toMatch(/^rookery: session \S+ serves its tools; answer its requests with: rookery answer /);
});
