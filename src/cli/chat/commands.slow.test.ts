import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call, fault, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { CHAT_TEST_MS, configureAcpAgent, openChat, submitLine } from "./test-chat.ts";

it(
  "switches the agent and the model with a list",
  async () => {
    await using fixture = await openCommandFixture([say("first")]);
    await configureAcpAgent(fixture, { otherwise: [{ say: "other agent" }] });
    const screen = await openChat(fixture, ["chat", "--agent", "anthropic"], { columns: 100 });
    submitLine(screen, "hi");
    await screen.waitFor("first");
    submitLine(screen, "/model");
    await screen.waitFor("Switch the model");
    expect(screen.visible()).toMatch(/● anthropic\/claude-sonnet-5/);
    screen.type("opus-5");
    await screen.waitFor(/❯ +anthropic\/claude-opus-5/);
    screen.press("enter");
    await screen.waitFor(/^anthropic · claude-opus-5/m);
    submitLine(screen, "/agent");
    await screen.waitFor("Switch to an agent");
    expect(screen.visible()).toMatch(/ anthropic +built in [^]* claude +claude-code +not installed/);
    screen.type("other");
    await screen.waitFor(/❯ +other +acp/);
    screen.press("enter");
    await screen.waitFor("agent: other");
    submitLine(screen, "hello");
    await screen.waitFor("other agent");
    submitLine(screen, "/model");
    await screen.waitFor("Type a model of other");
  },
  CHAT_TEST_MS,
);

it(
  "starts and lists tasks, lists MCP servers, and switches what Enter does",
  async () => {
    await using fixture = await openCommandFixture(() => say("an answer"));
    const screen = await openChat(fixture, [], { rows: 40 });
    for (const [line, shown] of [
      ["/tasks", "there is no task in this repository"],
      ["/task", "say what to do: /task"],
      ["/task tidy the notes", /task tidy-the-notes-\w+ runs in its own worktree/],
      ["/mcp", "no MCP server is declared here"],
      ["/queue", "is now delivered after the agent's turn"],
      ["/queue", "is now delivered for the agent's next step"],
      ["/output", "no command has printed anything yet"],
      ["/tasks", /❯ \/tasks\n[^❯]*tidy-the-notes-\w+ [^❯]*rookery task shows more/],
    ] as const) {
      submitLine(screen, line);
      await screen.waitFor(shown);
    }
  },
  CHAT_TEST_MS,
);

it(
  "shows the end of a failed command's output, all of it with /output, and resumes another conversation",
  async () => {
    await using fixture = await openCommandFixture([
      say("older answer"),
      call("bash", { command: "seq 101 130; exit 3" }),
      say("it failed"),
    ]);
    const first = await openChat(fixture);
    submitLine(first, "older question");
    await first.waitFor("done ·");
    first.press("ctrl-d");
    await first.exited;
    const screen = await openChat(fixture, ["chat", "--permissions", "all"], { rows: 45, env: { PAGER: "cat" } });
    submitLine(screen, "run it");
    await screen.waitFor("done ·");
    expect(screen.visible()).toMatch(
      /exit code 3.*\n {2}… 25 earlier lines · \/output shows all\n {2}126\n[^]* {2}130\n/,
    );
    submitLine(screen, "/output");
    await screen.waitFor(/\n101\n102\n[^]*\n130\n/);
    submitLine(screen, "/resume");
    await screen.waitFor("Continue a conversation");
    screen.type("older");
    await screen.waitFor(/❯ older question/);
    screen.press("enter");
    await screen.waitFor("older answer");
  },
  CHAT_TEST_MS,
);

it(
  "asks before it trusts a repository, and continues after y",
  async () => {
    await using fixture = await openCommandFixture([say("trusted now")]);
    await writeFile(
      join(fixture.repository.path, "rookery.toml"),
      '[agents.mine]\nbackend = "api"\nmodel = "anthropic/x"\n',
    );
    const screen = await openChat(fixture);
    submitLine(screen, "hello");
    await screen.waitFor("Trust it? [y/n]");
    expect(screen.visible()).toContain("rookery.toml");
    screen.type("hang on");
    screen.type("n");
    await screen.waitFor("Trust it? [y/n]");
    screen.press("escape");
    await screen.waitFor("❯ hello"); // the prompt is not lost
    screen.press("enter");
    await screen.waitFor("Trust it? [y/n]");
    screen.type("y");
    await screen.waitFor("trusted now");
  },
  CHAT_TEST_MS,
);

it.each(["/new", "/clear"])(
  "starts an empty conversation with the same agent and model with %s",
  async (command) => {
    await using fixture = await openCommandFixture([say("first answer"), say("second answer")]);
    const screen = await openChat(fixture, ["chat", "--agent", "anthropic", "--model", "anthropic/claude-opus-5"]);
    submitLine(screen, "first question");
    await screen.waitFor("done ·");
    submitLine(screen, command);
    await screen.waitFor(/a new conversation; the last one: rookery chat \w+, or \/resume/);
    expect(screen.visible()).toMatch(/\n❯\nanthropic · claude-opus-5 · [^$]*$/); // no cost and no context yet
    submitLine(screen, "second question");
    await screen.waitFor(/second answer[^]*done ·/);
    const sent = JSON.stringify(fixture.server.requests.at(-1));
    expect(sent).toContain("second question");
    expect(sent).not.toContain("first question");
    expect(sent).toContain("claude-opus-5");
    submitLine(screen, "/resume");
    await screen.waitFor("Continue a conversation");
    screen.type("first");
    await screen.waitFor(/❯ first question/);
    screen.press("enter");
    await screen.waitFor(/first answer[^]*second answer[^]*first answer/, { scrollback: true });
  },
  CHAT_TEST_MS,
);

it(
  "refuses to start a new conversation while a turn runs",
  async () => {
    await using fixture = await openCommandFixture([
      fault("stall", { text: ["one", " two", " three"], afterEvents: 4 }),
    ]);
    const screen = await openChat(fixture);
    submitLine(screen, "wait");
    await screen.waitFor(/^one/m);
    submitLine(screen, "/new");
    await screen.waitFor("! the agent still works; press Esc to interrupt it, then try again");
    screen.press("escape");
    await screen.waitFor("cancelled ·");
    submitLine(screen, "/new");
    await screen.waitFor("a new conversation; the last one:");
  },
  CHAT_TEST_MS,
);
