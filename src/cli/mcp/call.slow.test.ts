import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { hasPseudoTerminals, type CommandFixture } from "../test-command.ts";
import { EVERYTHING, openMcpFixture, SCRIPTED, stdio } from "./test-scene.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

describe("rookery mcp call", () => {
  it("calls a tool by either name, with input from an argument or stdin", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED), all: stdio(EVERYTHING) });
    const input = '{"text":"hi\\nthere"}';
    for (const tool of ["echo", "s__echo"]) {
      expect(await fixture.rookery(["mcp", "call", "s", tool, input])).toEqual({
        code: 0,
        stdout: "hi\nthere\n",
        stderr: "",
      });
    }
    expect(await fixture.rookery(["mcp", "call", "s", "echo", "-"], { input })).toMatchObject({
      stdout: "hi\nthere\n",
    });
    expect(await fixture.rookery(["mcp", "call", "s", "echo"])).toMatchObject({ code: 0, stdout: "" });
    expect(await fixture.rookery(["mcp", "call", "all", "echo", '{"message":"hi"}'])).toMatchObject({
      stdout: "Echo: hi\n",
    });
  });

  it("prints a long result completely, and structured output with --json", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED), all: stdio(EVERYTHING) });
    const { stdout } = await fixture.rookery(["mcp", "call", "s", "big", '{"bytes":300000}']);
    expect(stdout).toBe(`${"x".repeat(300_000)}\n`);
    const asked = ["mcp", "call", "all", "get-structured-content", '{"location":"New York"}', "--json"];
    expect(JSON.parse((await fixture.rookery(asked)).stdout)).toMatchObject({
      outcome: "ok",
      structured: { temperature: expect.any(Number) },
    });
  });

  it("names images and files, and writes them with --output", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) });
    const named = await fixture.rookery(["mcp", "call", "s", "mixed"]);
    expect(named.code).toBe(0);
    expect(named.stderr).toContain("rookery: image/png, 3 bytes: not saved; save it with --output DIR\n");
    expect(named.stdout).toContain("[image, image/png, 3 bytes]");
    expect(await fixture.repository.git("status", "--short")).toBe("");
    const { stdout } = await fixture.rookery(["mcp", "call", "s", "mixed", "--output", "out/here", "--json"]);
    const { blobs } = JSON.parse(stdout) as { blobs: { mediaType: string; path: string }[] };
    const written = await Promise.all(
      blobs.map(async ({ mediaType, path }) => [mediaType, await readFile(path, "utf8")]),
    );
    expect(written).toEqual([
      ["image/png", "PNG"],
      ["application/octet-stream", "BIN"],
    ]);
    expect(blobs[0]?.path).toMatch(/\/out\/here\/[0-9a-f]{16}\.png$/);
    const text = await fixture.rookery(["mcp", "call", "s", "mixed", "--output", "out"]);
    expect(text.stderr).toContain(`rookery: wrote ${join(fixture.repository.path, "out")}/`);
  });

  it("prints progress, and exits with 1 if the tool fails", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) });
    expect(await fixture.rookery(["mcp", "call", "s", "slow", '{"steps":2}'])).toEqual({
      code: 0,
      stdout: "done\n",
      stderr: expect.stringMatching(/^rookery: s: step 1\n/), // progress that follows quickly may be dropped
    });
    expect(await fixture.rookery(["mcp", "call", "s", "fail"])).toEqual({
      code: 1,
      stdout: "it broke\n",
      stderr: "rookery: the tool failed\n",
    });
  });

  it.each<[string, readonly string[], number, string]>([
    ["an unknown tool", ["s", "ecko"], 2, 's has no tool "ecko" (did you mean echo?); its tools: echo, hang,'],
    ["an unknown server", ["t", "echo"], 2, 'no MCP server "t"'],
    ["input that is not JSON", ["s", "echo", "{"], 2, "the input of a tool must be a JSON object"],
    ["input that is not an object", ["s", "echo", "[1]"], 2, "the input of a tool must be a JSON object"],
    ["a server that does not start", ["bad", "x"], 1, "bad is not ready: "],
    ["a fix for a server that does not start", ["bad", "x"], 1, "; run it by hand to see its output: "],
    ["a server that never answers", ["mute", "x"], 1, "for a slow server, set connect_timeout = SECONDS"],
    ["an invalid declaration", ["worse", "x"], 2, "NO_SUCH_TOKEN is not set"],
    ["a folder that cannot be created", ["s", "echo", "--output", "rookery.toml/x"], 2, "--output: "],
  ])("reports %s", async (_, args, code, words) => {
    fixture = await openMcpFixture({
      s: stdio(SCRIPTED),
      bad: stdio(SCRIPTED, "exit"),
      mute: { ...stdio(SCRIPTED, "silent"), connect_timeout: 1 },
      worse: { command: ["$NO_SUCH_TOKEN"] },
    });
    const ended = await fixture.rookery(["mcp", "call", ...args]);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(words)]);
  });

  it("declines questions without a terminal", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) });
    expect(await fixture.rookery(["mcp", "call", "s", "ask"])).toMatchObject({
      code: 0,
      stdout: '{"action":"decline"}\n',
    });
  });

  it("cancels the call at Ctrl-C and notifies the server", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED, "journal=journal") });
    const running = fixture.start(["mcp", "call", "s", "hang"]);
    const journal = () => fixture.repository.read("journal");
    await vi.waitFor(async () => expect(await journal()).toContain("call hang"), 10_000);
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
    expect(await journal()).toContain("received notifications/cancelled");
  });

  it.skipIf(!hasPseudoTerminals)("asks forms and pages on a terminal", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) });
    const form = fixture.terminal(["mcp", "call", "s", "ask"]);
    await form.waitForOutput(/s asks:\r\n {2}│ Who are you\?\r\n\(Enter [^]*\)\r\nname — optional\r\nname: /);
    form.child.stdin.write("Ada\n");
    expect(await form.ended).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('{"action":"accept","content":{"name":"Ada"}}'),
    });
    const page = fixture.terminal(["mcp", "call", "s", "visit-first"]);
    await page.waitForOutput(
      /s asks you to open a page:\r\n {2}│ First\r\n {2}host: example\.com\r\nhttps:\/\/example\.com\/first\r\nPress Enter when/,
    );
    page.child.stdin.write("\n");
    expect(await page.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("visited") });
    const byItself = await fixture.terminal(["mcp", "call", "s", "visit"]).ended;
    expect(byItself).toMatchObject({ code: 0, stdout: expect.stringContaining('{"action":"accept"}') });
    const odd = fixture.terminal(["mcp", "call", "s", "ask-odd"]);
    await odd.waitForOutput(/Type one line of JSON; /);
    odd.child.stdin.write("{\n");
    await odd.waitForOutput(/! not valid JSON\r\nType one line of JSON; /);
    odd.child.stdin.write('{"a":[1]}\n');
    expect((await odd.ended).stdout).toContain('{"action":"accept","content":{"a":[1]}}');
  });

  it.skipIf(!hasPseudoTerminals)(
    "asks for every kind of field of the reference server, and again after invalid input",
    async () => {
      fixture = await openMcpFixture({ all: stdio(EVERYTHING) });
      const running = fixture.terminal(["mcp", "call", "all", "trigger-elicitation-request"]);
      for (const [prompt, typed] of [
        [/String \(name\) — required\r\n {2}│ Your full, legal name\r\nname: $/, "Ada"],
        [/Boolean \(check\) — optional, yes or no\r\n[^\n]*\r\ncheck: $/, "maybe"],
        [/! Boolean: must be yes or no\r\ncheck: $/, "y"],
        [/firstLine \[It was a dark and stormy night\.\] \(\/skip to omit it\): $/, "/skip"],
        [/email: $/, "ada"],
        [
          /! String with email format: must be an email address, for example me@example\.org\r\nemail: $/,
          "ada@example.org",
        ],
        [/homepage: $/, ""],
        [/birthdate: $/, "1815-12-10"],
        [/a whole number from 1 to 100\r\n[^]*integer \[42\] \(\/skip to omit it\): $/, "101"],
        [/! Integer: must be from 1 to 100\r\ninteger [^\n]*: $/, "7"],
        [/number \[3\.14\][^\n]*: $/, ""],
        [/ {2}6\. Phoebe\r\nuntitledSingleSelectEnum \[Monica\][^\n]*: $/, "2"],
        [/untitledMultipleSelectEnum \[Guitar\][^\n]*: $/, "Piano, 5"],
        [/ {2}2\. Green Lantern \(hero-2\)\r\n[^]*titledSingleSelectEnum \[hero-1\][^\n]*: $/, "wonder woman"],
        [/titledMultipleSelectEnum \[fish-1\][^\n]*: $/, ""],
        [/legacyTitledEnum [^\n]*: $/, "/skip"],
        [/ {2}name: Ada\r\n {2}check: yes\r\n[^]*Send this to all\? \[Y\]es, \[n\]o [^\n]* $/, ""],
      ] as const) {
        await running.waitForOutput(prompt);
        running.child.stdin.write(`${typed}\n`);
      }
      const { code, stdout } = await running.ended;
      expect(code).toBe(0);
      const [, content = ""] = /"content": (\{[^]*?\n {2}\})/.exec(stdout.replaceAll("\r", "")) ?? [];
      expect(JSON.parse(content)).toEqual({
        name: "Ada",
        check: true,
        email: "ada@example.org",
        birthdate: "1815-12-10",
        integer: 7,
        number: 3.14,
        untitledSingleSelectEnum: "Rachel",
        untitledMultipleSelectEnum: ["Piano", "Bass"],
        titledSingleSelectEnum: "hero-3",
        titledMultipleSelectEnum: ["fish-1"],
      });
    },
  );
});
