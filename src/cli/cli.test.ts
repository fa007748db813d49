import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { access, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import Libsql from "libsql";
import { afterEach, describe, expect, it } from "vitest";
import { say, temporaryFolder } from "../testing/index.ts";
import { parseEventLines, FAKE_KEY, BUILT_COMMAND, openCommandFixture, type CommandFixture } from "./test-command.ts";

let fixture: CommandFixture;
afterEach(() => fixture[Symbol.asyncDispose]());

it.each([["--version"], ["-V"]])("%s prints the version of the package", async (flag) => {
  fixture = await openCommandFixture();
  const { version } = JSON.parse(await readFile(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  expect(await fixture.rookery([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

describe("bare rookery", () => {
  it("suggests the demo and how to add an agent without a key", async () => {
    fixture = await openCommandFixture();
    const { code, stdout, stderr } = await fixture.rookery([], { env: { ANTHROPIC_API_KEY: undefined } });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(join(fixture.home, ".rookery"));
    expect(stdout).toContain("rookery demo");
    expect(stdout).toContain("export ANTHROPIC_API_KEY=…");
  });

  it("names the ready agents with a key", async () => {
    fixture = await openCommandFixture();
    const { stdout } = await fixture.rookery([]);
    expect(stdout).toMatch(/^ {2}agents {3}anthropic /m);
    expect(stdout).not.toContain("ANTHROPIC_API_KEY");
  });
});

describe("agents", () => {
  const files = {
    "rookery.toml":
      `[defaults]\nagent = "reviewer"\n[agents.reviewer]\nmodel = "anthropic/m"\n[agents.claude]\nbackend = "claude-code"\n` +
      `[agents.gpt]\nmodel = "openai/gpt"\n[agents.zed]\nbackend = "acp"\ncommand = ["my-agent"]\n`,
  };

  it("are listed with what they need", async () => {
    fixture = await openCommandFixture([], { files });
    await fixture.rookery(["trust"]);
    const bin = join(fixture.home, "bin");
    await mkdir(bin);
    await writeFile(join(bin, "claude"), "#!/bin/sh\n");
    await chmod(join(bin, "claude"), 0o755);
    const { code, stdout } = await fixture.rookery(["agents"], { env: { PATH: `${bin}:/usr/bin:/bin` } });
    expect(code).toBe(0);
    const [table = "", notes = ""] = stdout.split("\n\n");
    expect(table.split("\n").map((line) => line.split(/ {2,}/).filter((cell) => cell !== ""))).toEqual([
      ["agent", "kind", "model or program", "login", "state"],
      ["* reviewer", "api", "anthropic/m", "ready"],
      ["claude", "claude-code", "claude on the PATH", "logged in", "ready"],
      ["gpt", "api", "openai/gpt", "not ready"],
      ["zed", "acp", "my-agent not found", "not ready"],
      ["anthropic", "api", "anthropic/claude-sonnet-5", "ready"],
      ["codex", "codex", "codex not found", "logged out", "not ready"],
      ["gemini", "gemini-cli", "gemini not found", "logged out", "not ready"],
      ["opencode", "opencode", "opencode not found", "logged in", "not ready"],
      ["openai", "api", "openai/gpt-6.1-sol", "not ready"],
      ["google", "api", "google/gemini-3.8-flash", "not ready"],
      ["* the default agent"],
    ]);
    expect(notes).toContain("gpt: OPENAI_API_KEY is not set: export OPENAI_API_KEY=…\n");
    expect(notes).toContain("zed: my-agent was not found: install it, or correct the command\n");
    expect(notes).toContain("codex: not found: npm install -g @openai/codex@");
  });

  it("names the missing key and never prints a key", async () => {
    fixture = await openCommandFixture();
    const without = await fixture.rookery(["agents"], { env: { ANTHROPIC_API_KEY: "" } });
    expect(without.stdout).toContain("ANTHROPIC_API_KEY is not set: export ANTHROPIC_API_KEY=…");
    const { agents } = JSON.parse((await fixture.rookery(["agents", "--json"])).stdout) as { agents: unknown[] };
    expect(agents).toContainEqual(expect.objectContaining({ name: "anthropic", ready: true, isDefault: true }));
    expect(JSON.stringify(agents)).not.toContain(FAKE_KEY.slice(0, 6));
  });

  it("of an untrusted repository are not listed, with a notice", async () => {
    fixture = await openCommandFixture([], { files });
    const { code, stdout, stderr } = await fixture.rookery(["agents"]);
    expect(code).toBe(0);
    expect(stdout).not.toContain("reviewer");
    expect(stderr).toMatch(/^rookery: .* is not trusted, so its agents are not listed; .*rookery trust\n$/);
  });
});

describe("text of a repository", () => {
  const NASTY = "a\u001b[2J\u009b1m\r.md";
  const files = {
    "rookery.toml":
      `[defaults]\nagent = "x"\n[agents.x]\nmodel = ${JSON.stringify(`anthropic/${NASTY}`)}\nprompts = [${JSON.stringify(NASTY)}]\n` +
      `[agents.y]\nmodel = ${JSON.stringify(`${NASTY}/m`)}\n[agents.z]\nbackend = "acp"\ncommand = [${JSON.stringify(NASTY)}]\n`,
    [NASTY]: "be kind",
  };
  const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/;

  it.each([["agents"], ["doctor"], ["trust"], [""], ["run", "x"], ["agents", "--json"], ["trust", "--json"]])(
    "cannot move the cursor: rookery %s %s",
    async (...args) => {
      fixture = await openCommandFixture([], { files });
      const call = () =>
        fixture.rookery(
          args.filter((word) => word !== ""),
          { env: { ROOKERY_DEBUG: "1" } },
        );
      const untrusted = await call();
      await fixture.rookery(["trust"]);
      const trusted = await call();
      expect(untrusted.stdout + untrusted.stderr + trusted.stdout + trusted.stderr).not.toMatch(CONTROLS);
    },
  );

  it("is escaped when it is trusted", async () => {
    fixture = await openCommandFixture([], { files });
    const { stdout } = await fixture.rookery(["trust"]);
    expect(stdout).toContain(": rookery.toml, a<U+001B>[2J<U+009B>1m<U+000D>.md\n");
    const json = await fixture.rookery(["trust", "--json"]);
    expect(JSON.parse(json.stdout)).toMatchObject({ files: ["rookery.toml", NASTY] });
  });
});

it.each(["constructor/x", "__proto__/x", "toString/x"])("reports a model without a provider: %s", async (model) => {
  fixture = await openCommandFixture([], { files: { "rookery.toml": `[agents.x]\nmodel = "${model}"` } });
  await fixture.rookery(["trust"]);
  const provider = model.split("/")[0] ?? "";
  expect((await fixture.rookery(["agents"])).stdout).toContain(`there is no provider "${provider}"`);
  expect(await fixture.rookery([])).toMatchObject({ code: 0, stderr: "" });
});

describe.skipIf(!existsSync("/dev/full"))("a full disk for the output", () => {
  it.each([[["--help"]], [["--version"]], [[]], [["doctor", "--json"]], [["completion", "bash"]]])(
    "is reported in one line: rookery %j",
    async (args) => {
      fixture = await openCommandFixture();
      const { code, stderr } = await fixture.rookery(args, { stdout: "/dev/full" });
      expect([code, stderr]).toEqual([1, "rookery: cannot write the output: the disk is full\n"]);
    },
  );

  it.each([[["--json"]], [[]]])("cancels the turn: rookery run %j", async (args) => {
    fixture = await openCommandFixture([say(Array<string>(500).fill("more "), { chunkDelayMs: 20 })]);
    const { code, stderr } = await fixture.rookery(["run", "x", ...args], { stdout: "/dev/full" });
    expect([code, stderr]).toEqual([1, "rookery: cannot write the output: the disk is full\n"]);
    const log = parseEventLines((await fixture.rookery(["sessions", "events", "last", "--json"])).stdout);
    expect(log.at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "cancelled" } });
  });
});

describe("a missing home", () => {
  /** A user id without an account, as in many containers. */
  it.skipIf(process.getuid?.() !== 0)("is reported if no variable names it, and help still works", async () => {
    fixture = await openCommandFixture();
    const unknown = {
      cwd: "/",
      uid: 54_321,
      env: { HOME: undefined, ROOKERY_HOME: undefined, XDG_STATE_HOME: undefined },
    };
    expect(await fixture.rookery(["sessions"], unknown)).toEqual({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^rookery: HOME is not set, .*; set HOME or ROOKERY_HOME to an absolute path\n$/),
    });
    expect(await fixture.rookery(["--help"], unknown)).toMatchObject({ code: 0, stderr: "" });
  });

  it("is reported if it is relative to a deleted directory", async () => {
    fixture = await openCommandFixture();
    const cwd = join(fixture.home, "removed");
    await mkdir(cwd);
    const sh = 'rmdir "$PWD" && exec "$@"';
    const { stdout, stderr } = spawnSync("sh", ["-c", sh, "sh", process.execPath, BUILT_COMMAND, "sessions"], {
      cwd,
      env: { ...fixture.env, ROOKERY_HOME: "here" },
      encoding: "utf8",
    });
    expect([stdout, stderr]).toEqual([
      "",
      'rookery: ROOKERY_HOME is "here", which is relative to a working directory that was removed; set it to an absolute path\n',
    ]);
  });
});

describe("doctor", () => {
  it("finds no problem in a good setup", async () => {
    fixture = await openCommandFixture();
    await fixture.rookery(["sessions"]);
    const { code, stdout, stderr } = await fixture.rookery(["doctor"]);
    expect([code, stderr]).toEqual([0, ""]);
    const subjects = stdout
      .trimEnd()
      .split("\n")
      .map((line) => line.split(/ +/).slice(0, 2))
      .filter(([, subject]) => subject !== "disk"); // depends on the machine
    expect(subjects).toEqual(
      ["program", "git", "home", "leftovers", "log", "config", "trust", "keys", "agents"].map((subject) => [
        "ok",
        subject,
      ]),
    );
    expect(stdout).not.toContain(FAKE_KEY.slice(0, 6));
  });

  it.each<[string, () => Promise<Record<string, string | undefined>>, number, RegExp]>([
    [
      "a missing key",
      async () => ({ ANTHROPIC_API_KEY: undefined }),
      0,
      /^warning +keys +anthropic: no key is set\n +→ export /m,
    ],
    ["missing git", async () => ({ PATH: "/nowhere" }), 0, /^warning +git +git was not found\n +→ install git/m],
    [
      "a broken configuration",
      async () => write("repo/rookery.toml", "[agnets]"),
      1,
      /^problem +config .*unknown key agnets/m,
    ],
    [
      "an untrusted repository",
      async () => write("repo/rookery.toml", ""),
      0,
      /^warning +trust .*\n +→ .*rookery trust/m,
    ],
    ["a damaged log", async () => write("home/.rookery/rookery.db", "x".repeat(5000)), 1, /^problem +log .*damaged/m],
    ["a home that is a file", async () => write("home/.rookery", "x"), 1, /^problem /m],
    [
      "what the dead left",
      async () => write("home/.rookery/owners/1.dead-1.1", ""),
      0,
      /^warning +leftovers +1 killed process may/m,
    ],
  ])("finds %s", async (_, prepare, expected, finding) => {
    fixture = await openCommandFixture();
    const { code, stdout } = await fixture.rookery(["doctor"], { env: await prepare() });
    expect(stdout).toMatch(finding);
    expect(code).toBe(expected);
    const { ok } = JSON.parse((await fixture.rookery(["doctor", "--json"], { env: {} })).stdout) as { ok: boolean };
    expect(ok).toBe(expected === 0);
  });

  it("names a damaged event, and saves the rest to a new file with --repair", async () => {
    fixture = await openCommandFixture([say("hi")]);
    await fixture.rookery(["run", "x"]);
    const path = join(fixture.env["ROOKERY_HOME"] ?? "", "rookery.db");
    const db = new Libsql(path);
    db.exec("update event set body = cast(x'ff' || body as text) where seq = 2");
    db.close();
    const found = await fixture.rookery(["doctor"]);
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/^problem +log +session ses_\w+ is damaged at event 2: .*\n[^]*→ .*doctor --repair/m);
    const repaired = await fixture.start(["doctor", "--repair"]).ended; // refuses while this process has the log open
    expect(repaired.code).toBe(0);
    expect(repaired.stdout).toMatch(/^saved +sessions: 1, .*\nlost +event 2 of session ses_\w+\nkept /m);
    expect((await fixture.rookery(["doctor"])).code).toBe(0);
    const again = JSON.parse((await fixture.start(["doctor", "--repair", "--json"]).ended).stdout) as object;
    expect(again).toMatchObject({ ok: true, repaired: false, damages: [] });
  });

  async function write(path: string, text: string): Promise<Record<string, string>> {
    const [where, ...rest] = path.split("/");
    const file = join(where === "home" ? fixture.home : fixture.repository.path, ...rest);
    await mkdir(join(file, ".."), { recursive: true });
    await writeFile(file, text);
    return {};
  }
});

describe("demo", () => {
  it("runs a turn in an empty folder without a key, and cleans up", async () => {
    fixture = await openCommandFixture();
    await using empty = await temporaryFolder();
    const env = { ANTHROPIC_API_KEY: undefined, ANTHROPIC_BASE_URL: undefined };
    const { code, stdout, stderr } = await fixture.rookery(["demo"], { cwd: empty.path, env });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("the model is scripted");
    expect(stdout).toMatch(/✗ bash: node --test[^]*✓ read[^]*✓ edit sum\.mjs[^]*✓ bash: node --test[^]*\ndone · /);
    expect(stdout).toContain("The test passes");

    const session = /rookery sessions events (\w{8})/.exec(stdout)?.[1] ?? "";
    const log = await fixture.rookery(["sessions", "events", session, "--json"]);
    expect(parseEventLines(log.stdout).at(-1)).toMatchObject({ type: "turn.ended", outcome: { status: "done" } });
    const repository = /repository with a failing test: (\S+)/.exec(stdout)?.[1] ?? "";
    await expect(access(repository)).rejects.toThrow();
    expect(fixture.server.requests).toHaveLength(0);
  });

  it("keeps its repository with --keep, and ignores the configuration of the user", async () => {
    fixture = await openCommandFixture();
    await mkdir(join(fixture.home, ".config/rookery"), { recursive: true });
    await writeFile(join(fixture.home, ".config/rookery/rookery.toml"), `[agents.anthropic]\nbackend = "codex"`);
    const { code, stdout } = await fixture.rookery(["demo", "--keep"]);
    expect(code).toBe(0);
    const kept = /The repository is kept: (\S+)/.exec(stdout)?.[1] ?? "";
    expect(await readFile(join(kept, "sum.mjs"), "utf8")).toContain("total + number");
    await promisify(execFile)("rm", ["-r", kept]);
  });
});

it("doctor warns if other users can read the log, and prints the fix", async () => {
  fixture = await openCommandFixture([say("hi")]);
  await fixture.rookery(["run", "x"]);
  const home = fixture.env["ROOKERY_HOME"] ?? "";
  expect((await fixture.rookery(["doctor"])).stdout).not.toContain("others on this machine");
  await chmod(home, 0o755);
  const { code, stdout } = await fixture.rookery(["doctor"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`other users of this machine can read it\n         → chmod go= '${home}'`);
});
