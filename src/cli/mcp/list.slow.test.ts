import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { startTestAuthorization } from "../../mcp/oauth/test-authorization.ts";
import { hasPseudoTerminals, type CommandFixture } from "../test-command.ts";
import { EVERYTHING, openMcpFixture, SCRIPTED, stdio } from "./test-scene.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const SECRET = "hunter2-hunter2";

/** Returns the URL of a closed server. */
async function goneUrl(): Promise<string> {
  const server = await startTestAuthorization();
  await server[Symbol.asyncDispose]();
  return server.url;
}

interface Row {
  readonly name: string;
  readonly status: string;
  readonly source: string;
  readonly reached: string;
  readonly reason?: string;
  readonly fix?: string;
  readonly tools: string[];
  readonly prompts: string[];
  readonly resources: string[];
}

function rowsIn(stdout: string): Row[] {
  return (JSON.parse(stdout) as { servers: Row[] }).servers;
}

describe("rookery mcp list", () => {
  it("prints every server with its status, reason and fix, and no secrets", async () => {
    await using vault = await startTestAuthorization();
    fixture = await openMcpFixture(
      {
        scripted: { ...stdio(SCRIPTED, `--api-key=${SECRET}`), env: { TOKEN: SECRET } },
        vault: { url: `${vault.url}?key=${SECRET}`, headers: { "X-Key": SECRET } },
        gone: { url: await goneUrl() },
        missing: { command: ["no-such-program", "--token", SECRET] },
        broken: stdio(SCRIPTED, "exit", "it's a b"),
        variable: { url: "https://example.org/mcp", headers: { Authorization: "Bearer $NO_SUCH_TOKEN" } },
        off: { ...stdio(SCRIPTED), enabled: false },
        silent: stdio(SCRIPTED, "silent"),
      },
      {
        files: {
          ".mcp.json": JSON.stringify({ mcpServers: { all: { command: process.execPath, args: [EVERYTHING] } } }),
        },
      },
    );
    const { code, stdout, stderr } = await fixture.rookery(["mcp", "list", "--timeout", "6", "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).not.toContain(SECRET);
    const rows = new Map(rowsIn(stdout).map((row) => [row.name, row]));
    expect([...rows.keys()]).toEqual([
      "scripted",
      "vault",
      "gone",
      "missing",
      "broken",
      "variable",
      "off",
      "silent",
      "all",
    ]);
    expect(rows.get("scripted")).toMatchObject({ status: "ready", source: "rookery.toml", prompts: ["review"], resources: ["mem://a"] }); // prettier-ignore
    expect(rows.get("scripted")?.tools).toContain("scripted__echo");
    expect(rows.get("scripted")?.reached).toMatch(/ --api-key=…$/);
    expect(rows.get("vault")).toMatchObject({
      status: "needs_login",
      reached: `${vault.url}?…`,
      fix: "rookery mcp auth vault",
      reason: expect.stringContaining("requires a login"),
    });
    expect(rows.get("gone")).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("ECONNREFUSED"),
      fix: expect.stringMatching(/^check that it is running, and the url of gone in .*rookery\.toml$/),
    });
    expect(rows.get("missing")).toMatchObject({
      status: "failed",
      reached: "no-such-program --token …",
      reason: expect.stringContaining("was not found"),
      fix: "correct its command, or install it",
    });
    expect(rows.get("broken")).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("no licence found"),
      fix: expect.stringMatching(/^run it by hand to see its output: .* exit 'it'\\''s a b'$/),
    });
    expect(rows.get("variable")).toMatchObject({
      status: "failed",
      reason: expect.stringContaining("NO_SUCH_TOKEN is not set"),
      fix: "export NO_SUCH_TOKEN=…",
    });
    expect(rows.get("off")).toMatchObject({ status: "disabled", fix: "enabled = true for mcp.off" });
    expect(rows.get("silent")).toMatchObject({ status: "connecting", fix: expect.stringContaining("--timeout") });
    expect(rows.get("all")).toMatchObject({ status: "ready", source: ".mcp.json" });

    const text = await fixture.rookery(["mcp", "--timeout", "6"]);
    expect(text.stdout).not.toContain(SECRET);
    expect(text.stdout).toMatch(/^scripted +ready +13 tools, 1 prompt, 1 resource +rookery\.toml +\S/m);
    expect(text.stdout).toMatch(
      /^vault +needs_login +rookery\.toml .*\n {4}vault requires a login.*\n {4}fix: rookery mcp auth vault$/m,
    );
    expect(text.stdout).toMatch(/^off +disabled /m);
  });

  it("connects to no server with --offline, and to all concurrently without", async () => {
    const slow = Object.fromEntries(["a", "b", "c", "d"].map((name) => [name, stdio(SCRIPTED, "late=3000")]));
    fixture = await openMcpFixture({ ...slow, off: { ...stdio(SCRIPTED), enabled: false } });
    const offline = rowsIn((await fixture.rookery(["mcp", "list", "--offline", "--json"])).stdout);
    expect(offline.map(({ status }) => status)).toEqual(["declared", "declared", "declared", "declared", "disabled"]);
    const started = performance.now();
    const rows = rowsIn((await fixture.rookery(["mcp", "--json"])).stdout);
    expect(rows.map(({ status }) => status)).toEqual(["ready", "ready", "ready", "ready", "disabled"]);
    expect(performance.now() - started).toBeLessThan(4 * 3000);
  });

  it("prints only the servers of --agent", async () => {
    const servers = { a: stdio(SCRIPTED), b: stdio(SCRIPTED) };
    fixture = await openMcpFixture(servers, { toml: '[agents.x]\nmodel = "anthropic/m"\nmcp = ["b"]\n' });
    const rows = rowsIn((await fixture.rookery(["mcp", "list", "--agent", "x", "--json"])).stdout);
    expect(rows.map(({ name, status }) => [name, status])).toEqual([["b", "ready"]]);
    const unknown = await fixture.rookery(["mcp", "list", "--agent", "y"]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no agent "y"') });
  });

  it("does not list or start servers of an untrusted repository", async () => {
    fixture = await openMcpFixture({ a: stdio("-e", "require('fs').writeFileSync('ran','')") });
    await fixture.repository.write("rookery.toml", `[mcp.b]\ncommand = ["touch", "ran"]\n`);
    const { code, stdout, stderr } = await fixture.rookery(["mcp"]);
    expect(code).toBe(0);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^rookery: .* is not trusted, so its MCP servers are not listed; .*rookery trust\n$/);
    for (const args of [
      ["mcp", "call", "b", "x"],
      ["mcp", "auth", "b"],
      ["mcp", "logout", "b"],
      ["mcp", "serve"],
    ])
      expect(await fixture.rookery(args)).toMatchObject({ code: 3, stderr: expect.stringContaining("rookery trust") });
    expect(await fixture.repository.git("status", "--short")).not.toContain("ran");
  });

  it("escapes control characters from servers and files", async () => {
    const nasty = "a\u001b[2J\u009b1m\r\u202e";
    fixture = await openMcpFixture({ a: { command: [`no-such${nasty}`, nasty] } });
    for (const args of [["mcp"], ["mcp", "--json"], ["mcp", "call", "a", nasty], ["mcp", "call", nasty, "x"]]) {
      const { stdout, stderr } = await fixture.rookery(args);
      expect(stdout + stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });

  it("prints a multi-line reason on one line", async () => {
    const http = createServer((_, response) => void response.writeHead(404).end("no tenant\nof that name\n"));
    await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
    fixture = await openMcpFixture({ a: { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp` } });
    const { stdout } = await fixture.rookery(["mcp"]);
    http.closeAllConnections();
    http.close();
    expect(stdout).toMatch(/^ {4}it answered HTTP 404: no tenant of that name$/m);
  });

  it.skipIf(!hasPseudoTerminals)("shows a spinner on a terminal until Ctrl-C", async () => {
    fixture = await openMcpFixture({ a: stdio(SCRIPTED, "silent") });
    const running = fixture.terminal(["mcp"], { env: { TERM: "xterm-256color" } });
    await running.waitForOutput(/⠋ connectin/);
    running.child.stdin.write("\u0003");
    expect((await running.ended).code).toBe(130);
  });
});
