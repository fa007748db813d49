/** The lists of a chat on a pseudo-terminal: conversations, agents and models. */
import { expect, it } from "vitest";
import { call, say } from "../../testing/index.ts";
import { openCommandFixture } from "../test-command.ts";
import { CHAT_TEST_MS, configureAcpAgent, openChat, submitLine } from "./test-chat.ts";

it(
  "tells conversations with the same title apart by their last prompt and short id",
  async () => {
    await using fixture = await openCommandFixture([say("one"), say("two"), say("three"), say("four")]);
    for (const prompts of [["hello"], ["hello", "explain the cache"]]) {
      await fixture.rookery(["run", prompts[0] ?? ""]);
      if (prompts[1] !== undefined) await fixture.rookery(["run", "--session", "last", prompts[1]]);
    }
    const screen = fixture.screen(["chat", "-r"], { columns: 80 });
    const listed = await screen.waitFor("Continue a conversation");
    expect(listed).toMatch(
      /^❯ hello {2}just now {2}2 turns {2}\w{8} {2}anthropic {2}last: explain the cache\n {2}hello {2}just now {2}1 turn {3}\w{8} {2}anthropic$/m,
    );
    expect(listed).not.toContain("starting");
    expect(screen.style("last: explain")?.dim).toBe(true);
    screen.press("enter");
    await screen.waitFor("two");
    submitLine(screen, "/fork");
    await screen.waitFor("copy of");
    submitLine(screen, "/resume");
    expect(await screen.waitFor("Continue a conversation")).toMatch(
      /^❯ ● hello .* {2}fork · last: explain the cache$/m,
    );
  },
  CHAT_TEST_MS,
);

it(
  "exits if no conversation of the list is chosen, and starts a new one if there is none",
  async () => {
    await using fixture = await openCommandFixture([say("one")]);
    const first = fixture.screen(["chat", "-r"], { columns: 80 });
    await first.waitFor(/there is no conversation in this directory yet[^]*\/ commands/);
    await fixture.rookery(["run", "hello"]);
    const screen = fixture.screen(["chat", "-r"], { columns: 80 });
    await screen.waitFor("Continue a conversation");
    screen.press("escape");
    expect(await screen.exited).toBe(0);
    expect(screen.all()).not.toContain("/ commands"); // the greeting of a new chat
  },
  CHAT_TEST_MS,
);

it(
  "lists agents in columns, ready ones first, and says what a chosen one lacks",
  async () => {
    await using fixture = await openCommandFixture([say("hello")]);
    await configureAcpAgent(fixture, {});
    const screen = await openChat(fixture, ["chat", "-a", "anthropic"], { columns: 80 });
    await screen.waitFor("anthropic · claude-");
    submitLine(screen, "/agent");
    const listed = await screen.waitFor("Switch to an agent");
    expect(listed).toMatch(/^❯ ● anthropic {2}built in {5}anthropic\/claude-\S+$/m);
    expect(listed).toMatch(/^ {4}codex +codex {8}not installed$/m);
    expect(listed.indexOf("other")).toBeLessThan(listed.indexOf("codex"));
    expect(screen.style("codex")?.dim).toBe(true);
    screen.type("codex");
    await screen.waitFor("filter: codex");
    screen.press("enter");
    await screen.waitFor(/the agent codex is not ready: codex was not found: npm install/);
  },
  CHAT_TEST_MS,
);

it(
  "chooses a model from a list or by its name",
  async () => {
    await using fixture = await openCommandFixture([say("hello")]);
    const screen = await openChat(fixture, [], { columns: 80 });
    await screen.waitFor("anthropic · claude-");
    submitLine(screen, "/model");
    const listed = await screen.waitFor("Switch the model of anthropic");
    expect(listed).toMatch(/^❯ ● anthropic\/claude-\S+ +1M context {4}\$\S+ in, \$\S+ out \/1M$/m);
    screen.type("opus-5-5");
    await screen.waitFor("❯ anthropic/claude-opus-5-5");
    screen.press("enter");
    await screen.waitFor("anthropic · claude-opus-5-5");
    submitLine(screen, "/model");
    await screen.waitFor("Switch the model");
    screen.type("anthropic/claude-next");
    await screen.waitFor("❯ use anthropic/claude-next");
    screen.press("enter");
    await screen.waitFor("anthropic · claude-next");
  },
  CHAT_TEST_MS,
);

it(
  "asks a question as a list, once, and keeps one line of it",
  async () => {
    const question = "Which database do you want?";
    await using fixture = await openCommandFixture([
      call("ask", { question, choices: ["SQLite", "PostgreSQL"] }),
      say("noted"),
    ]);
    const screen = await openChat(fixture, [], { columns: 80 });
    submitLine(screen, "go");
    const asked = await screen.waitFor("❯ 1 SQLite");
    expect(asked).toContain(
      `─\n? ${question}\n❯ 1 SQLite\n  2 PostgreSQL\n  3 Other       type your own answer\n↑↓ or a number · Enter answers · Esc declines\n`,
    );
    expect(asked.match(/SQLite/g)).toHaveLength(1);
    screen.press("down");
    await screen.waitFor("❯ 2 PostgreSQL");
    screen.press("enter");
    const answered = await screen.waitFor("noted");
    expect(answered).toContain(`? ${question} PostgreSQL\n`);
    expect(answered.match(/Which database/g)).toHaveLength(1);
    expect(JSON.stringify(fixture.server.requests.at(-1)?.messages)).toContain("PostgreSQL");
  },
  CHAT_TEST_MS,
);

it(
  "accepts free text as the answer to a question with options",
  async () => {
    await using fixture = await openCommandFixture([
      call("ask", { question: "Which database?", choices: ["SQLite", "PostgreSQL"] }),
      say("noted"),
    ]);
    const screen = await openChat(fixture, [], { columns: 80 });
    submitLine(screen, "go");
    await screen.waitFor("❯ 1 SQLite");
    screen.type("neither, use DuckDB");
    await screen.waitFor("other: neither, use DuckDB");
    screen.press("enter");
    expect(await screen.waitFor("noted")).toContain("? Which database? neither, use DuckDB\n");
    expect(fixture.server.requests.at(-1)?.toolResults[0]?.content).toBe("the user answered: neither, use DuckDB");
  },
  CHAT_TEST_MS,
);
