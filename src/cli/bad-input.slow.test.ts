/** Invalid input prints one line on stderr that says what to do, exits with the documented code, and loses nothing. */
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

/** Runs the tests that wait ten seconds. src/store has faster tests of a full disk and a lock. */
const IS_SLOW_RUN = process.env["ROOKERY_SLOW"] === "1";

/** Mounts a 400 kB disk for the log, which has room for one turn but not for two. */
const FULL_DISK = `
  mount -t tmpfs -o size=400k none "$1" && cd . || exit 9
  "$2" "$3" run one > "$1/../first"
  "$2" "$3" run two > "$1/../second"; echo "exit code $?"
  "$2" "$3" sessions events "$(sed -n 's/^session \\([a-z0-9]*\\) .*/\\1/p' "$1/../first")"`;

/** Needs Linux user namespaces. Elsewhere only the tests of the store fill a disk. */
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
    ["task", "stop"],
    ["missing argument <task>", "rookery task stop --help"],
  ],
  [
    ["task", "fix it"],
    ['unknown command "fix it"', "rookery task --help"],
  ],
  [
    ["task", "start"],
    ["the prompt is empty", "rookery task start"],
  ],
  [
    ["task", "logs", "x", "-g"],
    ["unknown option -g", "rookery task logs --help"],
  ],
  [["run", "x", "--permissions", "some"], ['--permissions must be one of ask, read, all, none, not "some"']],
  [
    ["run", "x", "y"],
    ["unexpected argument", "rookery run --help"],
  ],
  [
    ["run", "x", "--agent"],
    ["--agent <name> needs a value", "rookery run --help"],
  ],
  [
    ["sessions", "show"],
    ["missing argument <session>", "rookery sessions show --help"],
  ],
  [["sessions", "list", "--limit", "many"], ["--limit must be a whole number of at least 1"]],
  [["answer", "last", "r1", "accept", "--content", "{"], ["--content must be JSON"]],
  [["completion", "tcsh"], ['one of bash, zsh, fish, not "tcsh"']],
  [["run", "  "], ["the prompt is empty"]],
  [["run"], ["the prompt is empty"]],
])("prints a helpful error for %j", async (args, says) => {
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
    ["invalid TOML", `[defaults`, [/rookery\.toml:1:\d+: not TOML/]],
    [
      "an agent that does not exist",
      `[defaults]\nagent = "antropic"`,
      [/no agent "antropic" \(did you mean anthropic\?\)/, "rookery agents"],
    ],
  ])("names the file with %s, for the user's and the repository's file", async (_, text, says) => {
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

  it("suggests the closest name for an unknown agent", async () => {
    fixture = await openCommandFixture();
    expectRefusal(await fixture.rookery(["run", "x", "--agent", "antropic"]), {
      code: 2,
      says: [`no agent "antropic" (did you mean anthropic?)`, "rookery agents"],
    });
  });

  it("prints the install command for a missing program", async () => {
    fixture = await openCommandFixture();
    expectRefusal(await fixture.rookery(["run", "x", "--agent", "codex"], { env: { PATH: "/nowhere" } }), {
      code: 1,
      says: ["needs the program codex", "npm install -g @openai/codex@"],
    });
  });
});

describe("the model's API", () => {
  it.each([
    ["no key is set", {}, { ANTHROPIC_API_KEY: undefined }, ["set ANTHROPIC_API_KEY", "rookery demo"]],
    ["the key is wrong", {}, { ANTHROPIC_API_KEY: "sk-wrong" }, ["refused the key (401", "check ANTHROPIC_API_KEY"]],
    ["the base URL is not a URL", {}, { ANTHROPIC_BASE_URL: "localhost" }, ["ANTHROPIC_BASE_URL is not a URL"]],
    ["the model does not exist", { models: ["other"] }, {}, [`has no model "claude-sonnet-5" (404`, "--model"]],
  ])("prints an error if %s", async (_, options, env, says) => {
    fixture = await openCommandFixture([], options);
    expectRefusal(await fixture.rookery(["run", "x"], { env }), { code: 1, says });
    const { stdout } = await fixture.rookery(["sessions", "events", "last", "--json"]);
    const log = parseEventLines(stdout);
    if (log.length > 0) expect(log.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "failed" } });
    expect(stdout).not.toContain("sk-");
  });

  it("prints an error if the API is unreachable", async () => {
    fixture = await openCommandFixture();
    await fixture.server.close(); // later connections are refused
    expectRefusal(await fixture.rookery(["run", "x"]), {
      code: 1,
      says: [/cannot reach http:\/\/127\.0\.0\.1:\d+/, "ANTHROPIC_BASE_URL"],
    });
  });

  it("explains an invalid model name", async () => {
    fixture = await openCommandFixture();
    expectRefusal(await fixture.rookery(["run", "x", "--model", "sonnet"]), {
      code: 2,
      says: ["write provider/model"],
    });
  });
});

describe("a log", () => {
  const db = () => join(fixture.home, ".rookery", "rookery.db");
  /** Creates a log with one session. */
  async function withLog(): Promise<void> {
    fixture = await openCommandFixture([say("kept"), say("more")]);
    await fixture.rookery(["run", "x"]);
  }
  async function expectKept(): Promise<void> {
    expect((await fixture.rookery(["sessions", "events", "last"])).stdout).toContain("message.completed    kept");
  }

  it("reports a read-only log", async () => {
    await withLog();
    await chmod(fixture.home, 0o755);
    const modes = [join(fixture.home, ".rookery"), db(), `${db()}-wal`, `${db()}-shm`];
    for (const path of modes) await chmod(path, path === modes[0] ? 0o555 : 0o444).catch(() => undefined);
    const uid = process.getuid?.() === 0 ? 65_534 : undefined; // root can write everywhere
    const ended = await fixture.rookery(["run", "x"], { cwd: "/", ...(uid !== undefined && { uid }) });
    expectRefusal(ended, { code: 1, says: ["rookery.db", /write access/] });
    for (const path of modes) await chmod(path, 0o700).catch(() => undefined);
    await expectKept();
  });

  it("reports a corrupt log", async () => {
    await withLog();
    await writeFile(db(), "this is not a database ".repeat(1_000));
    await rm(`${db()}-wal`, { force: true });
    expectRefusal(await fixture.rookery(["run", "x"]), {
      code: 1,
      says: ["rookery.db", "damaged", "move the file away"],
    });
  });

  it.runIf(IS_SLOW_RUN && canMount)("reports a full disk and keeps the existing log", async () => {
    fixture = await openCommandFixture([say("kept"), say("x".repeat(500_000))]);
    const home = join(fixture.home, ".rookery");
    await mkdir(home);
    const { stdout, stderr } = await promisify(execFile)(
      "unshare",
      ["--user", "--map-root-user", "--mount", "bash", "-c", FULL_DISK, "bash", home, process.execPath, BUILT_COMMAND],
      { cwd: fixture.repository.path, env: fixture.env },
    );
    expectRefusal({ code: 1, stdout, stderr }, { code: 1, says: ["no disk space left", "rookery.db", "free some"] });
    expect(stdout).toContain("exit code 1\n");
    expect(stdout).toContain("message.completed    kept");
  });

  it("reports a log that is a directory", async () => {
    fixture = await openCommandFixture();
    await mkdir(db(), { recursive: true });
    expectRefusal(await fixture.rookery(["run", "x"]), { code: 1, says: ["rookery.db"] });
  });

  it("rejects a log of a newer version", async () => {
    await withLog();
    const other = new Libsql(db());
    other.exec("pragma user_version = 999");
    other.close();
    expectRefusal(await fixture.rookery(["run", "x"]), { code: 1, says: ["version 999", "update rookery"] });
  });

  it.runIf(IS_SLOW_RUN)("gives up on a locked log after a timeout", async () => {
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

describe("a working directory", () => {
  it.each(["run", "trust"])("%s names a working directory that does not exist", async (command) => {
    fixture = await openCommandFixture();
    const args = command === "run" ? ["run", "x", "--cwd", "gone"] : ["trust", "gone"];
    expectRefusal(await fixture.rookery(args), { code: 1, says: [/gone does not exist/, "--cwd"] });
  });

  it("names a working directory that is a file", async () => {
    fixture = await openCommandFixture([], { files: { file: "" } });
    expectRefusal(await fixture.rookery(["run", "x", "--cwd", "file"]), { code: 1, says: [/file is not a directory/] });
  });

  it("names the deleted working directory of a session that continues", async () => {
    fixture = await openCommandFixture([say("one")]);
    const folder = join(fixture.home, "work");
    await mkdir(folder);
    await fixture.rookery(["run", "x"], { cwd: folder });
    await rm(folder, { recursive: true });
    const { stdout } = await fixture.rookery(["sessions", "--json"]);
    const { id } = JSON.parse(stdout) as { id: string };
    const ended = await fixture.rookery(["run", "y", "--session", id]);
    expectRefusal(ended, { code: 1, says: [/work does not exist/] });
  });
});

describe("a prompt", () => {
  it("rejects a 10 MB prompt before writing anything", async () => {
    fixture = await openCommandFixture();
    const ended = await fixture.rookery(["run", "-"], { input: "x".repeat(10_000_000) });
    expectRefusal(ended, { code: 2, says: ["larger than", "put the text in a file"] });
    expect((await fixture.rookery(["sessions", "--json"])).stdout).toBe("");
  });

  it("rejects a prompt that is not UTF-8", async () => {
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
])("names a session that does not exist: %s %s %s %s", async (...args) => {
  fixture = await openCommandFixture();
  expectRefusal(await fixture.rookery(args), {
    code: 1,
    says: [/no session (or task )?ses_nothing/, "rookery sessions"],
  });
});

it("rejects a prompt for a closed session", async () => {
  fixture = await openCommandFixture([say("one")]);
  await fixture.rookery(["run", "x"]);
  await fixture.rookery(["sessions", "close", "last"]);
  expectRefusal(await fixture.rookery(["run", "y", "--session", "last"]), {
    code: 1,
    says: ["is closed", "rookery run"],
  });
});

it("rejects a session that another process drives", async () => {
  fixture = await openCommandFixture([call("write", { path: "a", content: "a" })]);
  const running = fixture.start(["run", "x", "--permissions", "ask"]);
  const [, session = ""] = await running.waitForOutput(/rookery answer (\S+)/);
  expectRefusal(await fixture.rookery(["run", "y", "--session", session]), { code: 1, says: [session] });
  running.child.kill("SIGTERM");
  expect((await running.ended).code).toBe(130);
});

it("prints a stack trace with ROOKERY_DEBUG=1", async () => {
  fixture = await openCommandFixture();
  const { stderr } = await fixture.rookery(["sessions", "show", "x"], { env: { ROOKERY_DEBUG: "1" } });
  expect(stderr).toMatch(/^rookery: no session x.*\nRookeryError: [^]*\n {4}at /);
});
