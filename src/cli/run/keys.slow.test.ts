/** The questions of a run on a rendered terminal, with the keys of the chat. */
import { afterEach, describe, expect, it } from "vitest";
import { startOnScreen } from "../../../test/support/screen.ts";
import { startTestAuthorization } from "../../mcp/oauth/test-authorization.ts";
import { call, fault, say } from "../../testing/index.ts";
import { openMcpFixture, SCRIPTED, stdio } from "../mcp/test-scene.ts";
import {
  BUILT_COMMAND,
  type CommandFixture,
  hasPseudoTerminals,
  openCommandFixture,
  parseEventLines,
} from "../test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

const BASH = call("bash", { command: "echo from-the-agent" });
const ASKS = [call("s__ask", {}), say("All done.")] as const;

async function events(type: string) {
  const { stdout } = await fixture.rookery(["sessions", "events", "last", "--json"]);
  return parseEventLines(stdout).filter((event) => event.type === type);
}

describe.skipIf(!hasPseudoTerminals)("a permission question", () => {
  it("is shown once with its keys, and leaves one line with the outcome", async () => {
    fixture = await openCommandFixture([BASH, say("All done.")]);
    await using screen = fixture.screen(["run", "x"]);
    expect(await screen.waitFor("always")).toBe(
      [
        "",
        "? Allow bash? echo from-the-agent",
        "  y yes · n no · a always echo … · e edit the command · Esc interrupts",
      ].join("\n"),
    );
    expect(screen.style("?")?.color).toBe(3);
    screen.type("y");
    expect(await screen.exited).toBe(0);
    expect(screen.all()).toMatch(/^✓ bash: echo from-the-agent — allowed by you[^\n]*\n\nAll done\.\n\ndone ·/);
  });

  it("is printed above its keys if it does not fit the screen", async () => {
    const command = Array.from({ length: 40 }, (_, at) => `echo ${at}`).join("\n");
    fixture = await openCommandFixture([call("bash", { command }), say("All done.")]);
    await using screen = fixture.screen(["run", "x"]);
    await screen.waitFor(/│ echo 39\n\n\? Allow bash\? echo 0 … \(\+39 lines\)\n {2}y yes/);
    expect(screen.all()).toContain("│ echo 0\n");
    screen.type("e");
    await screen.waitFor(/\? Allow bash\? echo 0 … \(\+39 lines\)\n[^]*echo 39\nEnter tells the agent to run this/);
    screen.press("escape");
    await screen.waitFor("y yes");
    screen.type("n");
    expect(await screen.exited).toBe(0);
    expect(screen.all()).toMatch(/│ echo 39\n⊘ bash: echo 0 [^\n]*— denied/);
  });

  it("leaves a line with the answer if the output goes into a file", async () => {
    fixture = await openCommandFixture([BASH, say("All done.")]);
    const { env, repository } = fixture;
    await using screen = startOnScreen(["sh", "-c", '"$0" "$1" run x >out.txt', process.execPath, BUILT_COMMAND], {
      cwd: repository.path,
      env: { ...env, TERM: "xterm-256color" },
    });
    await screen.waitFor("a always");
    screen.type("y");
    expect(await screen.exited).toBe(0);
    expect(screen.visible()).toBe("? Allow bash? echo from-the-agent — allowed");
  });

  it.each<[string, string[], object]>([
    ["n", ["n"], { decision: "deny" }],
    ["a twice", ["a", "a"], { decision: "allow", scope: "session", prefix: "echo" }],
    ["a and A", ["a", "A"], { decision: "allow", scope: "session" }],
    ["another command", ["e", " twice\r"], { message: "Run this command instead: echo from-the-agent twice" }],
    ["a sentence", ["use npm test\r"], { decision: "deny", message: "use npm test" }],
  ])("accepts %s", async (_, typed, resolved) => {
    fixture = await openCommandFixture([BASH, say("All done.")]);
    await using screen = fixture.screen(["run", "x"]);
    await screen.waitFor("always");
    const [first = "", second] = typed;
    screen.type(first);
    if (second !== undefined) {
      await screen.waitFor(/press a again|run instead: echo/);
      screen.type(second);
    }
    expect(await screen.exited).toBe(0);
    const answers = await events("permission.resolved");
    expect(answers).toMatchObject([resolved]);
    expect(answers.some((answer) => "prefix" in answer)).toBe("prefix" in resolved);
  });

  it("comes back after a and Esc", async () => {
    fixture = await openCommandFixture([BASH, say("All done.")]);
    await using screen = fixture.screen(["run", "x"]);
    await screen.waitFor("a always");
    screen.type("a");
    await screen.waitFor(/press a again[^]*Esc\s+goes back/);
    screen.press("escape");
    await screen.waitFor("a always");
    screen.type("y");
    expect(await screen.exited).toBe(0);
    expect(await events("permission.resolved")).toMatchObject([{ decision: "allow", scope: "once" }]);
  });

  it("ignores what was typed before it appeared", async () => {
    fixture = await openCommandFixture([{ ...BASH, firstByteDelayMs: 300 }, say("All done.")]);
    await using screen = fixture.screen(["run", "x"]);
    await fixture.server.received(0);
    screen.type("y\r");
    await screen.waitFor("always");
    screen.type("n");
    expect(await screen.exited).toBe(0);
    expect(screen.all()).toContain("⊘ bash: echo from-the-agent — denied");
  });

  it("disappears after an answer from another process", async () => {
    fixture = await openCommandFixture([BASH, say("All done.")]);
    await using screen = fixture.screen(["run", "x"]);
    await screen.waitFor("always");
    expect(await fixture.rookery(["answer", "last", "r1", "allow"])).toMatchObject({ code: 0 });
    expect(await screen.exited).toBe(0);
    expect(screen.all()).not.toContain("Allow bash");
  });

  it.each(["ctrl-c", "escape"] as const)("is left with %s, which cancels the turn", async (key) => {
    fixture = await openCommandFixture([BASH, fault("stall")]);
    await using screen = fixture.screen(["run", "x"]);
    await screen.waitFor("always");
    screen.press(key);
    expect(await screen.exited).toBe(130);
    expect(screen.all()).toMatch(
      /rookery: cancelling; press Ctrl-C again to quit immediately\n⊘ bash: echo from-the-agent — interrupted\ncancelled ·/,
    );
  });
});

describe.skipIf(!hasPseudoTerminals)("a question of a server", () => {
  it.each<[string, string, unknown]>([
    ["a value", "Ada\r", { action: "accept", content: { name: "Ada" } }],
    ["Tab", "\t", { action: "accept", content: {} }],
    ["Esc", "\u001b", { action: "decline" }],
    ["Ctrl-D", "\u0004", { action: "cancel" }],
  ])("is answered with %s", async (_, typed, answer) => {
    fixture = await openMcpFixture({ s: stdio(SCRIPTED) }, { script: ASKS });
    await using screen = fixture.screen(["run", "x", "--permissions", "all"]);
    expect(await screen.waitFor("Esc declines")).toMatch(
      /\? s asks: Who are you\?\n[^]*answer: ?\nEnter answers · Tab skips/,
    );
    screen.type(typed);
    expect(await screen.exited).toBe(0);
    expect(await events("question.answered")).toMatchObject([answer]);
    expect(screen.all()).toContain("? Who are you?");
    expect(screen.all()).not.toContain("Esc declines");
  });

  it("prints output above a login that stays open, and a link in one piece", async () => {
    await using vault = await startTestAuthorization();
    const script = [{ ...call("glob", { pattern: "*" }), firstByteDelayMs: 1_000 }, fault("stall")];
    fixture = await openMcpFixture({ vault: { url: vault.url } }, { script });
    await using screen = fixture.screen(["run", "x"], { columns: 60 });
    await screen.waitFor("Enter confirms");
    const shown = await screen.waitFor(/✓ find \*\n[^]*Enter confirms/);
    expect(shown.split("\n").at(-1)).toContain("Enter confirms");
    expect(screen.bytes).toMatch(/\r\nhttps?:\/\/\S{61,}\r\n/);
    screen.press("ctrl-c");
    expect(await screen.exited).toBe(130);
  });
});

it.skipIf(!hasPseudoTerminals)("asks for trust with a key, and Esc means no", async () => {
  fixture = await openCommandFixture([say("one")], { files: { "rookery.toml": "" } });
  await using refused = fixture.screen(["run", "x"]);
  await refused.waitFor("? Trust it? [y/n]");
  refused.press("escape");
  expect(await refused.exited).toBe(3);
  expect(refused.all()).toContain("? Trust it? no");
  await using screen = fixture.screen(["run", "x"]);
  await screen.waitFor("? Trust it? [y/n]");
  screen.type("y");
  expect(await screen.exited).toBe(0);
});
