import { expect, it } from "vitest";
import { call, fault, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";

const PATIENCE_MS = 90_000;

it(
  "works on a terminal of 20×5",
  async () => {
    await using fixture = await openCommandFixture([say("a rather long answer that has to wrap")]);
    const screen = fixture.screen([], { columns: 20, rows: 5 });
    await screen.waitFor("❯");
    screen.type("hello");
    await screen.waitFor("❯ hello");
    screen.press("enter");
    await screen.waitFor(/has to wrap[^]*done ·/, { scrollback: true });
    screen.press("ctrl-d");
    expect(await screen.exited).toBe(0);
  },
  PATIENCE_MS,
);

it(
  "keeps one prompt when it is resized while an answer streams",
  async () => {
    const words = Array.from({ length: 60 }, (_, index) => `word${index} `);
    await using fixture = await openCommandFixture([say(words, { chunkDelayMs: 20 })]);
    const screen = fixture.screen([], { columns: 80, rows: 24 });
    await screen.waitFor("❯");
    screen.type("go");
    screen.press("enter");
    for (const columns of [60, 100, 40, 25, 90]) {
      await screen.waitFor("word3");
      screen.resize(columns, columns / 5 + 5);
    }
    await screen.waitFor("done ·");
    screen.type("next");
    await screen.waitFor("❯ next");
    expect(screen.visible().match(/❯ next/g)).toHaveLength(1);
    expect(screen.all()).toContain("word59");
  },
  PATIENCE_MS,
);

it(
  "escapes control, bidi and zero-width characters from an agent",
  async () => {
    await using fixture = await openCommandFixture([
      say("before \x1b[2J\x1b[1;1Hhidden \x1b]0;title\x07 \u202etxt.exe\u202c z\u200bero\r\nafter"),
    ]);
    const screen = fixture.screen([]);
    await screen.waitFor("❯");
    screen.type("go");
    screen.press("enter");
    await screen.waitFor("done ·");
    expect(screen.visible()).toMatch(/❯ go\n\nbefore \[2J\[1;1Hhidden \]0;title txt\.exe zero\s+after/);
    expect(screen.bytes).not.toContain("\x1b[2J");
    expect(screen.bytes).not.toContain("\u202e");
  },
  PATIENCE_MS,
);

it(
  "refuses a paste of 5 MB with the limit, and sends a long paste whole",
  async () => {
    await using fixture = await openCommandFixture([say("read it")]);
    const screen = fixture.screen([]);
    await screen.waitFor("❯");
    screen.paste("x".repeat(5 * 1024 * 1024));
    await screen.waitFor("the limit is 4.2 MB");
    const text = Array.from({ length: 50 }, (_, index) => `line ${index}`).join("\n");
    screen.paste(text);
    await screen.waitFor("[paste #1 +50 lines]");
    screen.press("enter");
    await screen.waitFor("read it");
    expect(JSON.stringify(fixture.server.requests[0]?.messages)).toContain("line 49");
  },
  PATIENCE_MS,
);

it(
  "edits wide characters and emoji",
  async () => {
    await using fixture = await openCommandFixture([say("ok")]);
    const screen = fixture.screen([]);
    await screen.waitFor("❯");
    screen.type("漢字 👍x");
    screen.press("backspace", "backspace");
    screen.type("é!");
    await screen.waitFor("❯ 漢字 é!");
    screen.press("enter");
    await screen.waitFor("done ·");
    expect(JSON.stringify(fixture.server.requests[0]?.messages)).toContain("漢字 é!");
  },
  PATIENCE_MS,
);

it(
  "continues a turn after kill -9",
  async () => {
    await using fixture = await openCommandFixture([
      call("bash", { command: "echo once" }),
      fault("stall", { text: ["a", "b"], afterEvents: 1 }),
      say("went on"),
    ]);
    const screen = fixture.screen(["chat", "--permissions", "all"]);
    await screen.waitFor("❯");
    screen.type("go");
    screen.press("enter");
    await screen.waitFor("✓");
    await fixture.server.received(1);
    screen.kill("SIGKILL");
    await screen.exited;
    const again = fixture.screen(["-c"]);
    await again.waitFor("went on");
    expect(again.all().match(/✓ .*echo once/g)).toHaveLength(1);
  },
  PATIENCE_MS,
);

it(
  "ends and cancels its turn when the terminal is closed",
  async () => {
    await using fixture = await openCommandFixture([fault("stall", { text: ["a", "b"], afterEvents: 1 })]);
    const screen = fixture.screen([]);
    await screen.waitFor("❯");
    screen.type("go");
    screen.press("enter");
    await screen.waitFor(/ing \d+s · Esc interrupts/);
    screen.kill("SIGHUP");
    await screen.exited;
    const { stdout } = await fixture.rookery(["sessions", "list", "--json"]);
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({ status: "idle", lastOutcome: "cancelled" });
  },
  PATIENCE_MS,
);

it(
  "shows the same conversation in two chats of one session, and delivers input from both",
  async () => {
    await using fixture = await openCommandFixture([say("first answer"), say("second answer")]);
    const one = fixture.screen([]);
    await one.waitFor("❯");
    one.type("first question");
    one.press("enter");
    await one.waitFor("done ·");
    const two = fixture.screen(["-c"]);
    await two.waitFor(`process ${one.pid} drives this session`);
    await two.waitFor("first answer");
    two.type("second question");
    two.press("enter");
    await two.waitFor("second answer");
    await one.waitFor("second answer");
    expect(one.all()).toContain("❯ second question");
    expect(two.all().match(/drives this session/g)).toHaveLength(1);
  },
  PATIENCE_MS,
);

it(
  "steers with Enter and queues with Alt-Enter while the agent works",
  async () => {
    await using fixture = await openCommandFixture([
      call("bash", { command: "sleep 2" }),
      say("first turn"),
      say("second turn"),
    ]);
    const screen = fixture.screen(["chat", "--permissions", "all"]);
    await screen.waitFor("❯");
    screen.type("go");
    screen.press("enter");
    await screen.waitFor("sleep 2");
    screen.type("after that");
    screen.press("alt-enter");
    await screen.waitFor("after this turn: after that");
    screen.type("use tabs");
    screen.press("enter");
    await screen.waitFor("second turn");
    expect(screen.all()).toContain("message delivered: use tabs");
    expect(screen.all()).toContain("❯ after that");
  },
  PATIENCE_MS,
);

it(
  "moves follow-ups back into the input with Esc, and does not run them",
  async () => {
    await using fixture = await openCommandFixture([call("bash", { command: "sleep 60" }), say("both answered")]);
    const screen = fixture.screen(["chat", "--permissions", "all"]);
    await screen.waitFor("❯");
    screen.type("go");
    screen.press("enter");
    await screen.waitFor(/sleep 60 .*Esc interrupts/);
    for (const text of ["later one", "later two"]) {
      screen.type(text);
      screen.press("alt-enter");
      await screen.waitFor(`after this turn: ${text}`);
    }
    screen.type("draft");
    await screen.waitFor("❯ draft");
    screen.press("escape");
    await screen.waitFor(/cancelled[^]*❯ later one\n\n {2}later two\n\n {2}draft\n/);
    screen.press("enter");
    await screen.waitFor(/both answered[^]*done ·/);
    expect(fixture.server.requests).toHaveLength(2);
    expect(JSON.stringify(fixture.server.requests[1]?.messages)).toContain("later one\\n\\nlater two\\n\\ndraft");
  },
  PATIENCE_MS,
);

it(
  "degrades to plain lines with TERM=dumb, NO_COLOR and --plain",
  async () => {
    await using fixture = await openCommandFixture([say("plain **answer**"), say("again"), say("third")]);
    const env = { TERM: "dumb" };
    const screen = fixture.screen([], { env });
    await screen.waitFor(/>$/);
    screen.type("hi\r");
    await screen.waitFor("plain **answer**");
    await screen.waitFor(/done ·[^]*>$/);
    screen.type("/quit\r");
    expect(await screen.exited).toBe(0);
    expect(screen.bytes).not.toContain("\x1b[?2026h");
    for (const [args, more] of [
      [["--plain"], {}],
      [[], { NO_COLOR: "1" }],
    ] as const) {
      const other = fixture.screen([...args], { env: more });
      await other.waitFor("a new conversation");
      other.press("ctrl-d");
      expect(await other.exited).toBe(0);
    }
  },
  PATIENCE_MS,
);
