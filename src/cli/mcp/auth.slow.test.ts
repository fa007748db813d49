import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestAuthorization, type TestAuthorization } from "../../mcp/oauth/test-authorization.ts";
import { hasPseudoTerminals, type CommandFixture } from "../test-command.ts";
import { openPrintedPage, openMcpFixture, SCRIPTED, stdio } from "./test-scene.ts";

let fixture: CommandFixture;
let vault: TestAuthorization;
beforeEach(async () => {
  vault = await startTestAuthorization();
  fixture = await openMcpFixture({
    vault: { url: vault.url },
    off: { url: vault.url, enabled: false },
    program: stdio(SCRIPTED),
  });
});
afterEach(async () => {
  await fixture[Symbol.asyncDispose]();
  await vault[Symbol.asyncDispose]();
});

async function loggedIn(): Promise<void> {
  const running = fixture.start(["mcp", "auth", "vault"]);
  await openPrintedPage(running);
  expect((await running.ended).code).toBe(0);
}

/** Accepts every login. */
async function startOpenServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const http = createServer((request, response) => {
    const server = new McpServer({ name: "open", version: "1" });
    server.registerTool("hello", {}, () => ({ content: [{ type: "text", text: "hi" }] }));
    const transport = new StreamableHTTPServerTransport({});
    response.once("close", () => void transport.close());
    void server.connect(transport).then(() => transport.handleRequest(request, response));
  });
  await new Promise<void>((resolve) => void http.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise<void>((resolve) => void http.close(() => resolve()));
    },
  };
}

/** True if the port is closed. */
function isClosed(redirect: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(redirect).port), "127.0.0.1");
    socket.once("connect", () => resolve((socket.destroy(), false))).once("error", () => resolve(true));
  });
}

describe("rookery mcp auth", () => {
  it("prints the page, waits for the login, and keeps it for later commands", async () => {
    expect(await fixture.rookery(["mcp", "call", "vault", "open"])).toMatchObject({
      code: 3,
      stderr: "rookery: vault requires a login; run: rookery mcp auth vault\n",
    });
    const running = fixture.start(["mcp", "auth", "vault"]);
    expect(await openPrintedPage(running)).toMatch(/\S/);
    const { code, stdout, stderr } = await running.ended;
    expect(stdout).toMatch(/^vault requires a login; open this page\n {2}host: 127\.0\.0\.1:\d+\nhttp:\/\/\S+\nlogged in to vault\navailable: 1 tool\n$/); // prettier-ignore
    expect(stderr).toMatch(/waiting up to 300 s for the login to finish; press Ctrl-C to give up/);
    expect(code).toBe(0);
    expect(await isClosed(vault.asked.redirectUri ?? "")).toBe(true);
    expect(await fixture.rookery(["mcp", "call", "vault", "open"])).toMatchObject({ code: 0, stdout: "gold\n" });
  });

  it("reports an existing login, and logs in again with --force", async () => {
    await loggedIn();
    expect(await fixture.rookery(["mcp", "auth", "vault"])).toEqual({
      code: 0,
      stdout: "already logged in to vault; use --force to log in again\n",
      stderr: "",
    });
    const again = fixture.start(["mcp", "auth", "vault", "--force", "--json"]);
    const [, url = ""] = await again.waitForOutput(/"url":"([^"]+)"/);
    await (await fetch(url)).text();
    const { code, stdout } = await again.ended;
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toEqual([
      { server: "vault", url },
      { server: "vault", status: "done" },
    ]);
    expect([code, vault.counts.exchanges]).toEqual([0, 2]);
  });

  it("refreshes a rejected token without asking", async () => {
    await loggedIn();
    vault.expireTokens();
    expect(await fixture.rookery(["mcp", "call", "vault", "open"])).toMatchObject({ code: 0, stdout: "gold\n" });
    expect(vault.counts).toMatchObject({ refreshes: 1, exchanges: 1, reuses: 0 });
  });

  it("asks for a login again after the server revoked it", async () => {
    await loggedIn();
    vault.revokeAll();
    const { stdout } = await fixture.rookery(["mcp", "list", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ name: "vault", status: "needs_login" }, {}, {}] });
    await loggedIn();
    expect(await fixture.rookery(["mcp", "call", "vault", "open"])).toMatchObject({ code: 0 });
  });

  it("exits with 1 if the page refuses the login", async () => {
    vault.knobs.page = "refuses";
    const running = fixture.start(["mcp", "auth", "vault"]);
    await openPrintedPage(running);
    const { code, stderr } = await running.ended;
    expect(code).toBe(1);
    expect(stderr).toMatch(
      /the login to vault (failed: .*no thanks.*|was declined); try again: rookery mcp auth vault/,
    );
    expect(await isClosed(vault.asked.redirectUri ?? "")).toBe(true);
  });

  it("gives up on a page after the timeout", async () => {
    const { code, stderr } = await fixture.rookery(["mcp", "auth", "vault", "--timeout", "1"]);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining("failed: the login page was not completed within 1 s; try again: rookery mcp auth vault"),
    ]);
  });

  it("gives up at Ctrl-C and closes the port", async () => {
    vault.knobs.page = "never calls back";
    const running = fixture.start(["mcp", "auth", "vault"]);
    await openPrintedPage(running);
    expect(await isClosed(vault.asked.redirectUri ?? "")).toBe(false);
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect(await isClosed(vault.asked.redirectUri ?? "")).toBe(true);
  });

  it.skipIf(!hasPseudoTerminals)("declines with /decline on the terminal", async () => {
    const running = fixture.terminal(["mcp", "auth", "vault"]);
    await running.waitForOutput(/\(type \/decline to give up\) /);
    running.child.stdin.write("perhaps\n");
    await running.waitForOutput(/decline to give up\) [^]*decline to give up\) /);
    running.child.stdin.write("/decline\n");
    expect(await running.ended).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("the login to vault was declined; try again: rookery mcp auth vault"),
    });
  });

  it.skipIf(!hasPseudoTerminals)("needs no input on a terminal if the page completes the login", async () => {
    const running = fixture.terminal(["mcp", "auth", "vault"]);
    await running.waitForOutput(/\(type \/decline to give up\) /);
    await openPrintedPage(running);
    expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("logged in to vault") });
  });

  it("reports servers without a login, and disabled, unreachable and unknown ones", async () => {
    await using open = await startOpenServer();
    await using down = await startTestAuthorization();
    down.knobs.instead = (_, response) => (response.writeHead(500).end("down"), true);
    const tables = [
      `[mcp.down]\nurl = "${down.url}"`,
      `[mcp.open]\nurl = "${open.url}"`,
      `[mcp.program]\ncommand = ["x"]`,
      `[mcp.off]\nurl = "${vault.url}"\nenabled = false`,
    ];
    await fixture.repository.write("rookery.toml", tables.join("\n"));
    await fixture.rookery(["trust"]);
    expect(await fixture.rookery(["mcp", "auth", "open", "--force"])).toEqual({
      code: 0,
      stdout: "open needs no login\n",
      stderr: "",
    });
    for (const [args, code, words] of [
      [["auth", "program"], 2, "program is a local program and has no login"],
      [["logout", "program"], 2, "program is a local program and has no login"],
      [["auth", "off"], 1, "off is disabled: see mcp.off in "],
      [["auth", "donw"], 2, 'no MCP server "donw"'],
      [["auth", "down"], 1, "down cannot be reached: "],
    ] as const) {
      const ended = await fixture.rookery(["mcp", ...args]);
      expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(words)]);
    }
  });
});

describe("rookery mcp logout", () => {
  it("revokes and deletes the tokens", async () => {
    await loggedIn();
    expect(await fixture.rookery(["mcp", "logout", "vault"])).toEqual({
      code: 0,
      stdout: "logged out of vault\n",
      stderr: "",
    });
    expect(vault.counts.revocations).toBeGreaterThan(0);
    expect(await fixture.rookery(["mcp", "call", "vault", "open"])).toMatchObject({ code: 3 });
    expect(await fixture.rookery(["mcp", "logout", "vault", "--json"])).toEqual({
      code: 0,
      stdout: '{"server":"vault","forgotten":false}\n',
      stderr: "",
    });
  });

  it("works for a disabled server", async () => {
    await loggedIn();
    expect(await fixture.rookery(["mcp", "logout", "off"])).toMatchObject({ code: 0, stdout: "logged out of off\n" });
  });
});
