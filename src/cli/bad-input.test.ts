/** Each line of "bad input": one clear line on stderr that says what to do, the documented exit code, nothing lost. */
import Libsql from "libsql";
import { execFile, spawnSync } from "node:child_process";
import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, describe, expect, it } from "vitest";
import { call, say } from "../testing/index.ts";
import {
  type CommandResult,
  parseEventLines,
  FAKE_KEY,
  BUILT_COMMAND,
  openCommandFixture,
  type CommandFixture,
} from "./test-command.ts";

/** Whether tests run that wait for ten seconds; src/store has quicker ones of a full disk and of a lock. */
const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";

/** In a mount of its own, a log on a disk of 400 kB, which one turn fits on and the next does not. */
const FULL_DISK = `
  mount -t tmpfs -o size=400k none "$1" && cd . || exit 9
  "$2" "$3" run one > "$1/../first"
  "$2" "$3" run two > "$1/../second"; echo "exit code $?"
  "$2" "$3" sessions events "$(sed -n 's/^session \\(ses_[a-z0-9]*\\) .*/\\1/p' "$1/../first")"`;

/** Needs Linux with namespaces for users; elsewhere the store's own tests fill a disk. */
const canMount =
  spawnSync("unshare", ["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

function expectRefusal({ code, stderr }: CommandResult, expected: { code: number; says: (string | RegExp)[] }): void {
  expect(stderr).toMatch(/^rookery: [^\n]+\n$/);
  for (const words of expected.says) expect(stderr).toMatch(words);
  expect(code).toBe(expected.code);
  expect(stderr).not.toContain(FAKE_KEY.slice(0, 8));
}

it.each([
  [
    ["run", "x", "--jsno"],
    ["unknown option --jsno (did you mean --json?)", "rookery run --help"],
  ],
  [["run", "x", "--permisions=all"], ["--permisions (did you mean --permissions?)"]],
  [
    ["sessions", "--stauts", "idle"],
    ["--stauts (did you mean --status?)", "rookery sessions"],
  ],
  [
    ["sessions", "events", "last", "--folow"],
    ["--folow (did you mean --follow?)", "rookery sessions events --help"],
  ],
  [["--verison"], ["unknown option --verison (did you mean --version?)"]],
  [
    ["rnu", "x"],
    ['unknown command "rnu" (did you mean run?)', "rookery --help"],
  ],
  [
    ["sessions", "shwo"],
    ['unknown command "shwo" (did you mean show?)', "rookery sessions --help"],
  ],
  [["srve"], ['unknown command "srve" (did you mean serve?)']],
  [
    ["task", "strat", "x"],
    ['unknown command "strat" (did you mean start?)', "rookery task --help"],
  ],
  [
    ["task", "show"],
    ["missing argument <task>", "rookery task show --help"],
  ],
  [
    ["task", "start"],
    ["the prompt is empty", "rookery task start"],
  ],
  [
    ["task", "logs", "x", "-g"],
    ["unknown option -g", "rookery task logs --help"],
  ],
  [["run", "x", "--permissions", "some"], ['--permissions is one of ask, read, all, none, not "some"']],
  [
    ["run", "x", "y"],
    ["too many arguments", "rookery run --help"],
  ],
  [
    ["run", "x", "--agent"],
    ["--agent <name> needs its value", "rookery run --help"],
  ],
  [
    ["sessions", "show"],
    ["missing argument <session>", "rookery sessions show --help"],
  ],
  [["sessions", "list", "--limit", "many"], ["--limit takes a whole number from 1 on"]],
  [["answer", "last", "r1", "perhaps"], ["<answer> is one of allow, always, deny"]],
  [["answer", "last", "r1", "accept", "--content", "{"], ["--content takes JSON"]],
  [["completion", "tcsh"], ['one of bash, zsh, fish, not "tcsh"']],
  [["run", "  "], ["the prompt is empty"]],
  [["run"], ["the prompt is empty"]],
])("%j is answered with what was meant", async (args, says) => {
  fixture = await openCommandFixture();
  expectRefusal(await fixture.rookery(args), { code: 2, says });
});

describe("configuration", () => {
  it.each([
    [
      "an unknown key",
      `[agents.x]\nmodle = "a/b"`,
      [/rookery\.toml: unknown key agents\.x\.modle \(did you mean model\?\)/],
    ],
    ["a wrong type", `[defaults]\nmax_running = "4"`, ["defaults.max_running: expected a number"]],
    ["what is not TOML", `[defaults`, [/rookery\.toml:1:\d+: not TOML/]],
    [
      "an agent that does not exist",
      `[defaults]\nagent = "antropic"`,
      [/no agent "antropic" \(did you mean anthropic\?\)/, "rookery agents"],
    ],
  ])("with %s is named, in the user's file and in the repository's", async (_, text, says) => {
    fixture = await openCommandFixture();
    const file = join(fixture.home, ".config/rookery/rookery.toml");
    await mkdir(join(fixture.home, ".config/rookery"), { recursive: true });
    await writeFile(file, text);
    expectRefusal(await fixture.rookery(["run", "x"]), { code: 2, says });

    await rm(file);
    await fixture.repository.write("rookery.toml", text);
    await fixture.rookery(["trust"]);
    expectRefusal(await fixture.rookery(["run", "x"]), { code: 2, says });
  });

  it("an agent that does not exist is answered with the nearest", async () => {
    fixture = await openCommandFixture();
    expectRefusal(await fixture.rookery(["run", "x", "--agent", "antropic"]), {
      code: 2,
      says: [`no agent "antropic" (did you mean anthropic?)`, "rookery agents"],
    });
  });

  it("an agent whose program is missing is answered with what installs it", async () => {
    fixture = await openCommandFixture();
    expectRefusal(await fixture.rookery(["run", "x", "--agent", "codex"], { env: { PATH: "/nowhere" } }), {
      code: 1,
      says: ["needs the program codex", "npm install -g @openai/codex@"],
    });
  });
});

describe("the model's API", () => {
  it.each([
    ["without a key", {}, { ANTHROPIC_API_KEY: undefined }, ["set ANTHROPIC_API_KEY", "rookery demo"]],
    ["with a wrong key", {}, { ANTHROPIC_API_KEY: "sk-wrong" }, ["refused the key (401", "check ANTHROPIC_API_KEY"]],
    ["at what is no address", {}, { ANTHROPIC_BASE_URL: "localhost" }, ["ANTHROPIC_BASE_URL is not a URL"]],
    ["without the model", { models: ["other"] }, {}, [`has no model "claude-sonnet-5" (404`, "--model"]],
  ])("%s fails in words", async (_, options, env, says) => {
    fixture = await openCommandFixture([], options);
    expectRefusal(await fixture.rookery(["run", "x"], { env }), { code: 1, says });
    const { stdout } = await fixture.rookery(["sessions", "events", "last", "--json"]);
    const log = parseEventLines(stdout);
    if (log.length > 0) expect(log.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "failed" } });
    expect(stdout).not.toContain("sk-");
  });

  it("that cannot be reached fails in words", async () => {
    fixture = await openCommandFixture();
    await fixture.server.close(); // its address is refused from now on
    expectRefusal(await fixture.rookery(["run", "x"]), {
      code: 1,
      says: [/cannot reach http:\/\/127\.0\.0\.1:\d+/, "ANTHROPIC_BASE_URL"],
    });
  });

  it("a name that names no model is explained", async () => {
    fixture = await openCommandFixture();
    expectRefusal(await fixture.rookery(["run", "x", "--model", "sonnet"]), {
      code: 2,
      says: ["write provider/model"],
    });
  });
});

describe("a log", () => {
  const db = () => join(fixture.home, ".rookery", "rookery.db");
  /** A log with one session in it. */
  async function withLog(): Promise<void> {
    fixture = await openCommandFixture([say("kept"), say("more")]);
    await fixture.rookery(["run", "x"]);
  }
  async function expectKept(): Promise<void> {
    expect((await fixture.rookery(["sessions", "events", "last"])).stdout).toContain("message.completed    kept");
  }

  it("that is read-only is said so", async () => {
    await withLog();
    await chmod(fixture.home, 0o755);
    const modes = [join(fixture.home, ".rookery"), db(), `${db()}-wal`, `${db()}-shm`];
    for (const path of modes) await chmod(path, path === modes[0] ? 0o555 : 0o444).catch(() => undefined);
    const uid = process.getuid?.() === 0 ? 65_534 : undefined; // root writes everywhere
    const ended = await fixture.rookery(["run", "x"], { cwd: "/", ...(uid !== undefined && { uid }) });
    expectRefusal(ended, { code: 1, says: ["rookery.db", /write access/] });
    for (const path of modes) await chmod(path, 0o700).catch(() => undefined);
    await expectKept();
  });

  it("that is corrupt is said so", async () => {
    await withLog();
    await writeFile(db(), "this is not a database ".repeat(1_000));
    await rm(`${db()}-wal`, { force: true });
    expectRefusal(await fixture.rookery(["run", "x"]), { code: 1, says: ["rookery.db", "damaged", "move it away"] });
  });

  it.runIf(IS_SLOW_RUN && canMount)("that fills its disk is said so, and keeps what it had", async () => {
    fixture = await openCommandFixture([say("kept"), say("x".repeat(500_000))]);
    const home = join(fixture.home, ".rookery");
    await mkdir(home);
    const { stdout, stderr } = await promisify(execFile)(
      "unshare",
      ["--user", "--map-root-user", "--mount", "bash", "-c", FULL_DISK, "bash", home, process.execPath, BUILT_COMMAND],
      { cwd: fixture.repository.path, env: fixture.env },
    );
    expectRefusal({ code: 1, stdout, stderr }, { code: 1, says: ["no space left", "rookery.db", "free some"] });
    expect(stdout).toContain("exit code 1\n");
    expect(stdout).toContain("message.completed    kept");
  });

  it("that is a folder is said so", async () => {
    fixture = await openCommandFixture();
    await mkdir(db(), { recursive: true });
    expectRefusal(await fixture.rookery(["run", "x"]), { code: 1, says: ["rookery.db"] });
  });

  it("that a newer program wrote is refused", async () => {
    await withLog();
    const other = new Libsql(db());
    other.exec("pragma user_version = 999");
    other.close();
    expectRefusal(await fixture.rookery(["run", "x"]), { code: 1, says: ["version 999", "update rookery"] });
  });

  it.runIf(IS_SLOW_RUN)("that another process keeps locked is given up in words, after a while", async () => {
    await withLog();
    const other = new Libsql(db());
    other.exec("begin immediate");
    const ended = await fixture.rookery(["run", "x"]);
    other.exec("rollback");
    other.close();
    expectRefusal(ended, { code: 1, says: ["rookery.db", "locked by another process"] });
    await expectKept();
  });
});

describe("a working folder", () => {
  it.each(["run", "trust"])("that does not exist is named by %s", async (command) => {
    fixture = await openCommandFixture();
    const args = command === "run" ? ["run", "x", "--cwd", "gone"] : ["trust", "gone"];
    expectRefusal(await fixture.rookery(args), { code: 1, says: [/gone does not exist/, "--cwd"] });
  });

  it("that is a file is named", async () => {
    fixture = await openCommandFixture([], { files: { file: "" } });
    expectRefusal(await fixture.rookery(["run", "x", "--cwd", "file"]), { code: 1, says: [/file is not a directory/] });
  });

  it("that was removed under the session is named when it goes on", async () => {
    fixture = await openCommandFixture([say("one")]);
    const folder = join(fixture.home, "work");
    await mkdir(folder);
    await fixture.rookery(["run", "x"], { cwd: folder });
    await rm(folder, { recursive: true });
    const ended = await fixture.rookery(["run", "y", "--session", "last"]);
    expectRefusal(ended, { code: 1, says: [/work does not exist/] });
  });
});

describe("a prompt", () => {
  it("of 10 MB is refused before anything is written", async () => {
    fixture = await openCommandFixture();
    const ended = await fixture.rookery(["run", "-"], { input: "x".repeat(10_000_000) });
    expectRefusal(ended, { code: 2, says: ["larger than", "put the text in a file"] });
    expect((await fixture.rookery(["sessions", "--json"])).stdout).toBe("");
  });

  it("that is not UTF-8 is refused", async () => {
    fixture = await openCommandFixture();
    const ended = await fixture.rookery(["run"], { input: Buffer.from([0x68, 0x69, 0xff, 0xfe]) });
    expectRefusal(ended, { code: 2, says: ["not UTF-8"] });
  });
});

it.each([
  ["run", "x", "--session", "ses_nothing"],
  ["run", "--session", "ses_nothing"],
  ["sessions", "show", "ses_nothing"],
  ["sessions", "events", "ses_nothing"],
  ["sessions", "close", "ses_nothing"],
  ["answer", "ses_nothing", "r1", "allow"],
])("a session that does not exist is named: %s %s %s %s", async (...args) => {
  fixture = await openCommandFixture();
  expectRefusal(await fixture.rookery(args), {
    code: 1,
    says: ["there is no session ses_nothing", "rookery sessions"],
  });
});

it("a session that is closed takes no more prompts", async () => {
  fixture = await openCommandFixture([say("one")]);
  await fixture.rookery(["run", "x"]);
  await fixture.rookery(["sessions", "close", "last"]);
  expectRefusal(await fixture.rookery(["run", "y", "--session", "last"]), {
    code: 1,
    says: ["was closed", "rookery run"],
  });
});

it("a session that another process drives is not driven twice", async () => {
  fixture = await openCommandFixture([call("write", { path: "a", content: "a" })]);
  const running = fixture.start(["run", "x", "--permissions", "ask"]);
  const [, session = ""] = await running.waitForOutput(/rookery answer (\S+)/);
  expectRefusal(await fixture.rookery(["run", "y", "--session", session]), { code: 1, says: [session] });
  running.child.kill("SIGTERM");
  expect((await running.ended).code).toBe(130);
});

it("ROOKERY_DEBUG=1 shows where an error came from", async () => {
  fixture = await openCommandFixture();
  const { stderr } = await fixture.rookery(["sessions", "show", "x"], { env: { ROOKERY_DEBUG: "1" } });
  expect(stderr).toMatch(/^rookery: there is no session x.*\nRookeryError: [^]*\n {4}at /);
});
