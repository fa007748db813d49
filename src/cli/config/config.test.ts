import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { stdio, SCRIPTED } from "../mcp/test-scene.ts";
import { openCommandFixture, type CommandFixture } from "../test-command.ts";

let fixture: CommandFixture;
let user: string;
beforeEach(async () => {
  fixture = await openCommandFixture();
  user = join(fixture.home, ".config", "rookery", "rookery.toml");
});
afterEach(() => fixture[Symbol.asyncDispose]());

const repositoryFile = (): string => join(fixture.repository.path, "rookery.toml");

describe("rookery config", () => {
  it("sets a value, keeps comments, and reads it back", async () => {
    await mkdir(dirname(user), { recursive: true });
    await writeFile(user, '# mine\n[defaults]\nagent = "anthropic" # usual\n');
    const set = await fixture.rookery(["config", "set", "defaults.agent", "openai"]);
    expect(set).toEqual({ code: 0, stdout: `defaults.agent = "openai" in ${user}\n`, stderr: "" });
    expect(await readFile(user, "utf8")).toBe('# mine\n[defaults]\nagent = "openai" # usual\n');
    expect((await fixture.rookery(["config", "get", "defaults.agent"])).stdout).toBe("openai\n");
  });

  it("refuses an invalid value or key, and leaves the file as it was", async () => {
    await fixture.rookery(["config", "set", "defaults.max_running", "2"]);
    const before = await readFile(user, "utf8");
    const wrong = await fixture.rookery(["config", "set", "defaults.max_running", "many"]);
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toContain("defaults.max_running");
    expect((await fixture.rookery(["config", "set", "defaults.agnet", "x"])).stderr).toContain("agent");
    expect(await readFile(user, "utf8")).toBe(before);
    expect((await fixture.rookery(["config", "get", "merge.gate"])).stderr).toContain("merge.gate is not set");
  });

  it.each([
    ["agent", "unknown key agent (did you mean defaults.agent?)"],
    ["agnt", "unknown key agnt (did you mean defaults.agent?)"],
    ["permissions", "unknown key permissions (did you mean agents.NAME.permissions?)"],
    ["merge", "merge is a table; name a key in it, such as merge.how"],
    ["zzz", "unknown key zzz; known tables: defaults, agents, mcp"],
  ])("says which key was probably meant by %s", async (key, message) => {
    expect((await fixture.rookery(["config", "set", key, "x"])).stderr).toContain(message);
    const { code, stderr } = await fixture.rookery(["config", "get", key]);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
  });

  it("changes the file of the repository, which stays trusted", async () => {
    await fixture.rookery(["config", "set", "merge.gate", "npm test", "--repository"]);
    expect(await readFile(repositoryFile(), "utf8")).toBe('[merge]\ngate = "npm test"\n');
    expect((await fixture.rookery(["doctor"])).stdout).toMatch(/^ok +trust +\S+ is trusted$/m);
    expect((await fixture.rookery(["config"])).stdout).toMatch(
      /^repository +\S+rookery\.toml\nuser +\S+ +\(does not exist\)$/m,
    );
  });

  it("lists every value that is set, and says if the repository overrides one", async () => {
    expect((await fixture.rookery(["config", "get"])).stdout).toContain("nothing is set");
    await fixture.rookery(["config", "set", "defaults.agent", "openai", "--repository"]);
    const set = await fixture.rookery(["config", "set", "defaults.agent", "google"]);
    expect(set.stderr).toContain(
      'defaults.agent = "openai", which wins in this repository; change that with --repository',
    );
    await fixture.rookery(["config", "set", "defaults.max_running", "2"]);
    const { stdout } = await fixture.rookery(["config", "get"]);
    expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
      ['defaults.agent = "openai"', repositoryFile()],
      ["defaults.max_running = 2", user],
      [""],
    ]);
  });

  it("does not trust a repository that was not trusted before", async () => {
    await writeFile(repositoryFile(), '[worktree]\nsetup = "evil"\n');
    const set = await fixture.rookery(["config", "set", "merge.gate", "npm test", "--repository"]);
    expect(set.stderr).toContain("review it, then run: rookery trust");
    expect((await fixture.rookery(["doctor"])).stdout).toMatch(/^warning +trust .*is not trusted/m);
  });

  it("needs a terminal for the editor", async () => {
    expect(await fixture.rookery(["config", "edit"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("rookery mcp add, tools and remove", () => {
  it("declares a server, lists its tools, and removes it", async () => {
    const { command } = stdio(SCRIPTED);
    const added = await fixture.rookery(["mcp", "add", "mine", "--env", "A=b", "--", ...command]);
    expect(added).toMatchObject({ code: 0, stderr: "" });
    expect(await readFile(user, "utf8")).toContain(
      `[mcp.mine]\ncommand = ${JSON.stringify(command).replaceAll(",", ", ")}\nenv = { A = "b" }\n`,
    );
    expect((await fixture.rookery(["mcp", "add", "mine", "--", "x"])).stderr).toContain("mine exists already");
    const tools = await fixture.rookery(["mcp", "tools", "mine"]);
    expect(tools.code).toBe(0);
    expect(tools.stdout.split("\n").length).toBeGreaterThan(1);
    expect((await fixture.rookery(["mcp", "remove", "mine"])).stdout).toContain("removed mine from ");
    expect(await readFile(user, "utf8")).not.toContain("mine");
    expect((await fixture.rookery(["mcp", "remove", "mine"])).stderr).toContain("declares no MCP server");
  });

  it("declares a remote server with headers in the repository", async () => {
    const url = "https://hub.example/mcp";
    const args = ["mcp", "add", "hub", "--url", url, "--header", "Authorization=Bearer ${TOKEN}", "--repository"];
    expect((await fixture.rookery(args)).code).toBe(0);
    expect(await readFile(repositoryFile(), "utf8")).toBe(
      `[mcp.hub]\nurl = "${url}"\nheaders = { Authorization = "Bearer \${TOKEN}" }\n`,
    );
  });

  it.each([
    [["mcp", "add", "x"], "name either a command or --url"],
    [["mcp", "add", "x", "--url", "file:///etc"], "--url must start with http"],
    [["mcp", "add", "x", "--env", "A", "--", "y"], "--env needs NAME=VALUE"],
    [["mcp", "add", "a b", "--", "y"], 'mcp."a b"'],
  ])("%j is refused: %s", async (args, message) => {
    const refused = await fixture.rookery(args);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain(message);
    expect(existsSync(user)).toBe(false);
  });
});

describe("rookery init", () => {
  it("writes a commented file for what it finds, trusts it, and does not overwrite it", async () => {
    await fixture.repository.write("package.json", JSON.stringify({ scripts: { test: "vitest", check: "tsc" } }));
    await fixture.repository.write("pnpm-lock.yaml", "");
    await fixture.repository.write(".envrc", "SECRET=1\n");
    const { code, stdout } = await fixture.rookery(["init"]);
    expect(code).toBe(0);
    const text = await readFile(repositoryFile(), "utf8");
    expect(stdout).toBe(`wrote ${repositoryFile()}:\n\n${text}`);
    expect(text).toContain('[defaults]\nagent = "anthropic"\n');
    expect(text).toContain('Found: Node.js (pnpm).\nsetup = "pnpm install --frozen-lockfile"\n');
    expect(text).toContain('copy = [".envrc"]\n');
    expect(text).toContain('gate = "pnpm run check && pnpm test"\n');
    expect(text).not.toContain("SECRET");
    expect((await fixture.rookery(["doctor"])).stdout).toMatch(/^ok +trust +\S+ is trusted$/m);
    await writeFile(repositoryFile(), "# mine\n");
    expect(await fixture.rookery(["init"])).toMatchObject({ code: 2, stdout: "" });
    expect(await readFile(repositoryFile(), "utf8")).toBe("# mine\n");
    expect((await fixture.rookery(["init", "--force"])).code).toBe(0);
  });

  it("writes suggestions only as comments if it finds nothing", async () => {
    const env = { ANTHROPIC_API_KEY: undefined, PATH: "/nowhere" };
    const { code, stderr } = await fixture.rookery(["init"], { env });
    expect(code).toBe(0);
    expect(stderr).toContain("no agent is ready yet");
    const settings = (await readFile(repositoryFile(), "utf8")).split("\n").filter((line) => /^[^#[]/.test(line));
    expect(settings).toEqual([]);
  });

  it.each([
    ["Cargo.toml", undefined, "cargo test"],
    ["go.mod", "go mod download", "go test ./..."],
    ["Makefile", undefined, "make check"],
  ])("recognizes a project with %s", async (file, setup, check) => {
    await fixture.repository.write(file, "check:\n\ttrue\n");
    await fixture.rookery(["init"]);
    const get = async (key: string) => (await fixture.rookery(["config", "get", key])).stdout.trim();
    expect([await get("worktree.setup"), await get("merge.gate")]).toEqual([setup ?? "", check]);
  });
});
