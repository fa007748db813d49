import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { newId, type EventDraft } from "../../domain/index.ts";
import { shortId } from "../../domain/ids.ts";
import { openSqliteStore } from "../../store/index.ts";
import { openCommandFixture, parseEventLines, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
beforeEach(async () => {
  fixture = await openCommandFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

const stamp = { at: new Date(Date.now() - 5 * 60_000).toISOString(), agent: "claude" };
const OPENED = { ...stamp, type: "session.opened", backend: "api", cwd: "/w", permissions: "ask" } as const;
const TURN: EventDraft = { ...stamp, type: "turn.started", turnId: "trn_1", input: [{ type: "text", text: "hi" }] };
const asks = (requestId: string, title = "bash: npm test"): EventDraft => ({
  ...stamp,
  type: "permission.requested",
  turnId: "trn_1",
  requestId,
  toolId: "tol_1",
  tool: "bash",
  title,
  kind: "execute",
  input: { command: "npm test" },
});
const question: EventDraft = {
  ...stamp,
  type: "question.asked",
  requestId: "q1",
  message: "Which branch?",
  from: "hub",
  schema: {
    type: "object",
    properties: { branch: { type: "string", oneOf: [{ const: "main", title: "Main line" }, { const: "dev" }] } },
    required: ["branch"],
  },
};

/** Appends sessions to the log of the fixture. Returns their ids. */
async function logged(...sessions: (readonly EventDraft[])[]): Promise<string[]> {
  await using store = await openSqliteStore({ path: join(fixture.home, ".rookery", "rookery.db") });
  const ids: string[] = [];
  for (const events of sessions) {
    const sessionId = newId("ses");
    await store.append({ sessionId, id: newId("app"), expectedHead: 0, events });
    ids.push(sessionId);
  }
  return ids;
}

it("shows paths inside the directory of the session relative to it, but not as JSON", async () => {
  await logged([OPENED, TURN, asks("r1", "bash: cat /w/src/a.ts /wide")]);
  expect((await fixture.rookery(["inbox"])).stdout).toContain("? bash: cat src/a.ts /wide\n");
  expect((await fixture.rookery(["inbox", "--json"])).stdout).toContain("cat /w/src/a.ts");
  expect((await fixture.rookery(["answer", "allow"])).stderr).toContain("bash: cat src/a.ts /wide (");
});

it("lists the open requests of all sessions, with their age, agent and the command that answers them", async () => {
  const [first, second] = await logged(
    [OPENED, TURN, asks("r1", "bash: rm -rf x\u001b[2J")],
    [{ ...OPENED, task: "fix-login" }, question],
    [OPENED],
  );
  const { code, stdout, stderr } = await fixture.rookery(["inbox"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toBe(
    `? bash: rm -rf x<U+001B>[2J
  ${shortId(first ?? "")}, claude, 5m ago
  rookery answer ${shortId(first ?? "")} allow   or: always --prefix "npm test", deny

? hub: Which branch?
  1. Main line (main)
  2. dev
  task fix-login, claude, 5m ago
  rookery answer fix-login 1   or: 2, decline
`,
  );
  const lines = (await fixture.rookery(["inbox", "--json"])).stdout.trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    { sessionId: first, requestId: "r1", kind: "permission", input: { command: "npm test" } },
    { sessionId: second, requestId: "q1", kind: "question", task: "fix-login" },
  ]);
});

it.each([
  ["2", { branch: "dev" }],
  ["main", { branch: "main" }],
  ["Main line", { branch: "main" }],
])("answers a question with one field with %s", async (text, content) => {
  const [session = ""] = await logged([OPENED, question]);
  expect(await fixture.rookery(["answer", text])).toMatchObject({ code: 0 });
  const events = await fixture.rookery(["sessions", "events", session, "--json"]);
  expect(parseEventLines(events.stdout).at(-1)).toMatchObject({ type: "question.answered", action: "accept", content });
});

it("says what is wrong with an answer", async () => {
  await logged([OPENED, question]);
  const refused = await fixture.rookery(["answer", "prod"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toMatch(/^rookery: the answer is not valid: .*prod/);
});

it.each(["yes", "y"])("allows a permission with %s", async (text) => {
  await logged([OPENED, TURN, asks("r1")]);
  expect((await fixture.rookery(["answer", text])).code).toBe(0);
  expect((await fixture.rookery(["inbox"])).stdout).toBe("nothing is waiting for an answer\n");
});

it("allows commands that start with a prefix, and shows that in the session", async () => {
  const [session = ""] = await logged([OPENED, TURN, asks("r1")]);
  for (const [args, message] of [
    [["allow", "--prefix", "npm test"], "--prefix is only valid with always"],
    [["always", "--prefix", "npm"], 'request r1 cannot be allowed by a prefix: "npm" is not specific enough'],
    [["always", "--prefix", "npm run"], '"npm run" is not specific enough'],
    [["always", "--prefix", "npm tes"], 'the command does not start with the words "npm tes"'],
  ] as const) {
    const refused = await fixture.rookery(["answer", ...args]);
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toContain(message);
  }
  const { stdout } = await fixture.rookery(["answer", session, "r1", "always", "--prefix", "npm test"]);
  expect(stdout).toBe(`answered r1 of ${shortId(session)}: always npm test …\n`);
  expect((await fixture.rookery(["sessions", "show", session])).stdout).toMatch(/always allowed +bash: npm test …/);
  expect((await fixture.rookery(["sessions", "events", session])).stdout).toContain(
    "r1 allow (session: npm test …, by person)",
  );
});

it("says that nothing is waiting for an answer", async () => {
  expect(await fixture.rookery(["inbox"])).toEqual({
    code: 0,
    stdout: "nothing is waiting for an answer\n",
    stderr: "",
  });
  for (const args of [["answer", "allow"], ["answer"]]) {
    expect((await fixture.rookery(args)).stderr).toContain("nothing is waiting for an answer");
  }
});

it("answers the only request without an id, and shows what it answers", async () => {
  const [session] = await logged([OPENED, TURN, asks("r1")], [OPENED]);
  expect((await fixture.rookery(["inbox"])).stdout).toContain(
    '  rookery answer allow   or: always --prefix "npm test", deny\n',
  );
  const { code, stdout, stderr } = await fixture.rookery(["answer", "deny", "--message", "no"]);
  expect(code).toBe(0);
  expect(stderr).toContain(`bash: npm test (${shortId(session ?? "")}, claude)`);
  expect(stdout).toBe(`answered r1 of ${shortId(session ?? "")}: deny\n`);
  expect((await fixture.rookery(["inbox"])).stdout).toBe("nothing is waiting for an answer\n");
});

it("asks for a name if several requests wait, and accepts the session alone if one waits there", async () => {
  const [, second] = await logged([OPENED, TURN, asks("r1")], [OPENED, TURN, asks("r2")]);
  const refused = await fixture.rookery(["answer", "allow"]);
  expect(refused).toMatchObject({ code: 2, stdout: "" });
  expect(refused.stderr).toContain("2 requests are waiting for an answer; name one of them: rookery inbox");
  expect((await fixture.rookery(["answer", second ?? "", "allow"])).stdout).toBe(
    `answered r2 of ${shortId(second ?? "")}: allow\n`,
  );
  expect((await fixture.rookery(["answer", second ?? "", "allow"])).stderr).toContain(
    "nothing is waiting for an answer in",
  );
});

it("lists and answers the requests of a named server", async () => {
  await logged([{ ...OPENED, task: "fix-login" }, question], [OPENED, TURN, asks("r1")]);
  const server = fixture.start(["serve", "--port", "0"]);
  const [url] = await server.waitForOutput(/http:\/\/127\.0\.0\.1:\d+/);
  await server.waitForOutput(/Ctrl-C stops the server/);
  const token = (await readFile(join(fixture.home, ".rookery", "token"), "utf8")).trim();
  await using elsewhere = await openCommandFixture();
  const there = { env: { ROOKERY_TOKEN: token } };
  expect((await elsewhere.rookery(["inbox"])).stdout).toBe("nothing is waiting for an answer\n");
  expect((await elsewhere.rookery(["inbox", "--server", url], there)).stdout).toContain(
    "  rookery answer fix-login 1   or: 2, decline\n",
  );
  const answered = await elsewhere.rookery(["answer", "fix-login", "dev", "--server", url], there);
  expect(answered).toMatchObject({ code: 0, stdout: "answered q1 of fix-login: dev\n" });
  const byVariable = { env: { ...there.env, ROOKERY_SERVER: url } };
  expect((await elsewhere.rookery(["inbox"], byVariable)).stdout).not.toContain("fix-login");
  expect((await elsewhere.rookery(["answer", "nobody", "allow"], byVariable)).stderr).toContain(
    `nothing is waiting for an answer in nobody on the server at ${url}`,
  );
  server.child.kill("SIGTERM");
  await server.ended;
});
