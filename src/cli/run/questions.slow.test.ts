import { afterEach, describe, expect, it } from "vitest";
import { startTestAuthorization } from "../../mcp/oauth/test-authorization.ts";
import { call, fault, say } from "../../testing/index.ts";
import { openPrintedPage, openMcpFixture, SCRIPTED, stdio } from "../mcp/test-scene.ts";
import { parseEventLines, hasPseudoTerminals, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const ASKS = [call("s__ask", {}), say("All done.")] as const;
const NAME =
  /s asks:\r\n {2}│ Who are you\?\r\n\([^)]*\/decline to refuse, \/cancel [^)]*\)\r\nname — optional\r\nname: /;

async function answerOf(tool: string): Promise<unknown> {
  const { stdout } = await fixture.rookery(["sessions", "events", "last", "--json"]);
  const ended = parseEventLines(stdout).find((event) => event.type === "tool.ended");
  return ended?.type === "tool.ended" ? ended.text : `${tool} did not end`;
}

const DUMB = { env: { TERM: "dumb" } };

describe.skipIf(!hasPseudoTerminals)("on a terminal that cannot redraw lines", () => {
  it.each([
    ["a value", "Ada\n", '{"action":"accept","content":{"name":"Ada"}}'],
    ["Enter", "\n", '{"action":"accept","content":{}}'],
    ["/decline", "/decline\n", '{"action":"decline"}'],
    ["/cancel", "/cancel\n", '{"action":"cancel"}'],
    ["the end of the input", "\u0004", '{"action":"cancel"}'],
  ])("asks a question of a server during a turn and accepts %s", async (_, typed, answer) => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { script: ASKS });
    const running = fixture.terminal(["run", "x", "--permissions", "all"], DUMB);
    await running.waitForOutput(NAME);
    running.child.stdin.write(typed);
    expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("All done.") });
    expect(await answerOf("s__ask")).toBe(answer);
  });

  it("asks for a permission and a question one after the other", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { script: ASKS });
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(/Allow s__ask\? /);
    running.child.stdin.write("y\n");
    await running.waitForOutput(NAME);
    running.child.stdin.write("Ada\n");
    expect(await running.ended).toMatchObject({ code: 0 });
  });

  it("withdraws a question that was answered elsewhere and asks the next one", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { script: [ASKS[0], ...ASKS] });
    const running = fixture.terminal(["run", "x", "--permissions", "all"], DUMB);
    await running.waitForOutput(NAME);
    const content = '{"name":"Bob"}';
    expect(await fixture.rookery(["answer", "last", "r1", "accept", "--content", content])).toMatchObject({ code: 0 });
    await running.waitForOutput(new RegExp(`${NAME.source}[^]*${NAME.source}`));
    running.child.stdin.write("Ada\n");
    expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("All done.") });
    expect(await answerOf("s__ask")).toBe('{"action":"accept","content":{"name":"Bob"}}');
  });

  it("cancels the turn at Ctrl-C while a question is open", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { script: ASKS });
    const running = fixture.terminal(["run", "x", "--permissions", "all"], DUMB);
    await running.waitForOutput(NAME);
    running.child.stdin.write("\u0003");
    expect((await running.ended).code).toBe(130);
  });

  it("asks for a login during a turn and offers the tools after it", async () => {
    await using vault = await startTestAuthorization();
    const script = [{ ...say("First."), firstByteDelayMs: 1_500 }, call("vault__open", {}), say("Rich.")];
    fixture = await openMcpFixture({ vault: { url: vault.url } }, { script });
    const running = fixture.terminal(["run", "x", "--permissions", "all"], DUMB);
    await running.waitForOutput(
      /vault asks you to open a page:[^]*host: 127\.0\.0\.1:\d+\r\nhttp:[^]*Press Enter when you are done/,
    );
    await openPrintedPage(running);
    expect((await running.ended).code).toBe(0);
    const next = await fixture.terminal(["run", "y", "--session", "last"], DUMB).ended;
    expect(next.stdout).toMatch(/✓ vault: open[^]*Rich\./);
    expect(next.stdout).not.toContain("open a page");
  });

  it("withdraws an open login when the turn ends", async () => {
    await using vault = await startTestAuthorization();
    fixture = await openMcpFixture(
      { vault: { url: vault.url } },
      { script: [{ ...say("Done."), firstByteDelayMs: 1_500 }] },
    );
    const running = fixture.terminal(["run", "x"], DUMB);
    await running.waitForOutput(/Press Enter when you are done/);
    expect(await running.ended).toMatchObject({ code: 0, stdout: expect.stringContaining("Done.") });
    const { stdout } = await fixture.rookery(["sessions", "events", "last", "--json"]);
    expect(parseEventLines(stdout)).toContainEqual(
      expect.objectContaining({ type: "question.answered", action: "cancel" }),
    );
    expect(JSON.parse((await fixture.rookery(["sessions", "show", "last", "--json"])).stdout)).toMatchObject({
      status: "idle",
    });
  });
});

it("declines a question without a terminal, and waits for rookery answer with --permissions ask", async () => {
  fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { script: [...ASKS, ...ASKS] });
  expect((await fixture.rookery(["run", "x", "--permissions", "all"])).code).toBe(0);
  expect(await answerOf("s__ask")).toBe('{"action":"decline"}');
  const running = fixture.start(["run", "x", "--permissions", "ask"]);
  const [, session = ""] = await running.waitForOutput(/answer with: rookery answer (\S+) r1 allow/);
  await fixture.rookery(["answer", session, "r1", "allow"]);
  await running.waitForOutput(/answer with: rookery answer \S+ r2 /);
  await fixture.rookery(["answer", session, "r2", "accept", "--content", '{"name":"Eve"}']);
  expect((await running.ended).code).toBe(0);
  expect(await answerOf("s__ask")).toBe('{"action":"accept","content":{"name":"Eve"}}');
});

describe("a prompt of a server", () => {
  it("is sent to the model", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { script: [say("Fine.")] });
    expect(await fixture.rookery(["run", "/s:review a.ts"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("Fine."),
    });
    expect(JSON.stringify((await fixture.server.received(0)).body)).toContain("Review a.ts");
  });

  it("prints an error if it does not exist or lacks an argument", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { script: [say("Never.")] });
    expect(await fixture.rookery(["run", "/s:nothing"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('s has no prompt for "/s:nothing"; the server offers /s:review'),
    });
    expect(await fixture.rookery(["run", "/s:review"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("/s:review needs file; type /s:review file=…"),
    });
  });

  it("exits with 130 after Ctrl-C while its server connects", async () => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED, "silent") }, { script: [fault("stall")] });
    const running = fixture.start(["run", "/s:review a.ts", "--json"]);
    await running.waitForOutput(/"session\.opened"/); // from there on it listens for signals
    running.child.kill("SIGINT");
    expect((await running.ended).code).toBe(130);
  });
});
