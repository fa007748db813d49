import { execFile } from "node:child_process";
import { mkdir, mkdtemp, realpath, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { loadConfig } from "./load.ts";
import type { ProgramFamily } from "../domain/program-family.ts";
import { ORDER_BOUNDS } from "./tree-hash.ts";
import { trust, trustState } from "./trust.ts";

let repo: string;
let env: EnvironmentVariables;

beforeEach(async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "rookery-config-")));
  repo = join(folder, "repo");
  env = { HOME: folder, ROOKERY_HOME: join(folder, "state") };
  await write(".git/HEAD", "");
});
afterEach(() => rm(dirname(repo), { recursive: true, force: true }));

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(repo, path)), { recursive: true });
  await writeFile(join(repo, path), text);
}

async function wants(family: ProgramFamily | undefined, cwd = repo, local = false): Promise<void> {
  await (await loadConfig({ cwd, env })).requireTrustFor({ family, local });
}

const untrusted = (file: string) =>
  expect.objectContaining({ code: "not_trusted", message: expect.stringContaining(file) as string }) as unknown;

it.each<[ProgramFamily, string]>([
  ["claude", ".claude/settings.json"],
  ["claude", ".claude/settings.local.json"],
  ["claude", ".claude/commands/deep/er.md"],
  ["claude", ".claude/skills/x/SKILL.md"],
  ["claude", ".claude/skills/x/scripts/run.sh"],
  ["claude", ".claude/agents/a.md"],
  ["claude", ".claude/hooks/h.sh"],
  ["claude", ".claude/workflows/w.js"],
  ["claude", ".claude/output-styles/o.md"],
  ["claude", ".CLAUDE/settings.json"],
  ["claude", "packages/a/.claude/skills/x/SKILL.md"],
  ["claude", ".claude-plugin/marketplace.json"],
  ["codex", ".codex/config.toml"],
  ["codex", ".codex/rules/default.rules"],
  ["codex", ".codex/agents/a.toml"],
  ["codex", ".agents/skills/x/SKILL.md"],
  ["gemini", ".gemini/settings.json"],
  ["gemini", ".gemini/commands/c.toml"],
  ["gemini", ".gemini/policies/p.toml"],
  ["gemini", ".gemini/skills/x/SKILL.md"],
  ["gemini", ".agents/skills/x/SKILL.md"],
  ["gemini", ".env"],
  ["opencode", "opencode.json"],
  ["opencode", ".opencode/plugin/deep/run.ts"],
  ["opencode", ".opencode/tool/t.js"],
  ["opencode", ".claude/skills/x/SKILL.md"],
])("does not start %s in a repository with %s until that content is trusted", async (family, file) => {
  await wants(family);
  await write(file, "one");
  await expect(wants(family)).rejects.toEqual(untrusted(file));
  expect(await trustState(repo, env)).toMatchObject({ status: "untrusted" });
  await trust(repo, env);
  await wants(family);
  await write(file, "two");
  await expect(wants(family)).rejects.toEqual(untrusted("changed since"));
});

it("starts an unknown program beside an untrusted .env but not beside an untrusted hook", async () => {
  await write(".env", "A=1");
  await wants(undefined);
  await write(".claude/settings.json", "{}");
  await expect(wants(undefined)).rejects.toEqual(untrusted(".claude/settings.json"));
});

/** Each case starts with a trusted plugin directory. */
const MEGABYTE = "x".repeat(1024 * 1024);
it.each<[what: string, before: () => Promise<unknown>, change: () => Promise<unknown>]>([
  [
    "a file is moved into a plugin directory",
    () => write("src/evil.ts", "evil()"),
    () => rename(join(repo, "src/evil.ts"), join(repo, ".opencode/plugin/evil.ts")),
  ],
  [
    "two files swap their names",
    () => write(".opencode/plugin/b.ts", "b"),
    async () => {
      await write(".opencode/plugin/a.ts", "b");
      await write(".opencode/plugin/b.ts", "a");
    },
  ],
  [
    "the 501st file changes",
    async () => {
      for (let n = 1000; n < 1501; n += 1) await write(`.opencode/plugin/n${n}.ts`, "");
    },
    () => write(".opencode/plugin/n1500.ts", "evil()"),
  ],
  [
    "a byte after the first megabyte changes",
    () => write("opencode.json", `${MEGABYTE}a`),
    () => write("opencode.json", `${MEGABYTE}b`),
  ],
  [
    "a package changes",
    () => write(".opencode/node_modules/p/index.js", "one"),
    () => write(".opencode/node_modules/p/index.js", "two"),
  ],
  [
    "a package is added",
    () => write(".opencode/node_modules/p/index.js", "one"),
    () => write(".opencode/node_modules/q/index.js", "two"),
  ],
  [
    "the target of a link changes",
    async () => {
      await write("src/linked.ts", "one");
      await symlink("../../src/linked.ts", join(repo, ".opencode/plugin/link.ts"));
    },
    () => write("src/linked.ts", "two"),
  ],
  [
    "a link points to another file with the same content",
    async () => {
      await write("src/one.ts", "same");
      await write("src/two.ts", "same");
      await symlink("../../src/one.ts", join(repo, ".opencode/plugin/link.ts"));
    },
    async () => {
      await rm(join(repo, ".opencode/plugin/link.ts"));
      await symlink("../../src/two.ts", join(repo, ".opencode/plugin/link.ts"));
    },
  ],
  [
    "a linked directory outside of the repository changes",
    async () => {
      await write("../outside/x.ts", "one");
      await symlink("../../outside", join(repo, ".opencode/tool"));
    },
    () => write("../outside/x.ts", "two"),
  ],
  [
    "the target of a broken link is created",
    () => symlink("../../src/later.ts", join(repo, ".opencode/plugin/link.ts")),
    () => write("src/later.ts", "evil()"),
  ],
  [
    "a directory becomes a file",
    () => write(".opencode/tool/t.js", "one"),
    async () => {
      await rm(join(repo, ".opencode/tool"), { recursive: true });
      await write(".opencode/tool", "evil()");
    },
  ],
  ["the directory is added in another case", () => Promise.resolve(), () => write(".OpenCode/plugin/a.ts", "evil()")],
])("ends trust when %s", async (_, before, change) => {
  await write(".opencode/plugin/a.ts", "a");
  await before();
  await trust(repo, env);
  await wants("opencode");
  await change();
  await expect(wants("opencode")).rejects.toEqual(untrusted("changed since"));
  await trust(repo, env);
  await wants("opencode");
});

it.each<[what: string, path: string, make: () => Promise<unknown>]>([
  [
    "is too large",
    ".claude/settings.json",
    async () => {
      await write(".claude/settings.json", "");
      await truncate(join(repo, ".claude/settings.json"), ORDER_BOUNDS.bytes + 1);
    },
  ],
  [
    "has too many files",
    ".claude",
    async () => {
      await mkdir(join(repo, ".claude/commands"), { recursive: true });
      const names = Array.from({ length: ORDER_BOUNDS.files + 1 }, (_, n) => join(repo, `.claude/commands/${n}.md`));
      await Promise.all(names.map((name) => writeFile(name, "")));
    },
  ],
  [
    "is not a regular file",
    ".claude/settings.json",
    async () => {
      await mkdir(join(repo, ".claude"));
      await promisify(execFile)("mkfifo", [join(repo, ".claude/settings.json")]);
    },
  ],
])("does not trust content that %s, and names the fix", async (_, path, make) => {
  await make();
  expect(await trust(repo, env)).toMatchObject({ status: "trusted", tooLarge: expect.anything() as unknown });
  await expect(wants("claude")).rejects.toEqual(untrusted(path));
  await expect(wants("claude")).rejects.toEqual(untrusted("make it smaller"));
  await wants("codex");
});

it("never trusts a file whose name is not UTF-8", async () => {
  const skills = join(repo, ".agents/skills");
  await mkdir(skills, { recursive: true });
  await trust(repo, env);
  await wants("codex");
  const folder = Buffer.concat([Buffer.from(`${skills}/`), Buffer.from([0xff])]);
  await mkdir(folder);
  await writeFile(Buffer.concat([folder, Buffer.from("/SKILL.md")]), "one");
  await expect(wants("codex")).rejects.toEqual(untrusted("not UTF-8"));
  await trust(repo, env);
  await expect(wants("codex")).rejects.toEqual(untrusted("not UTF-8"));
});

it.each([
  ["another directory of the checkout", "other", "work"],
  ["a directory that is not searched", "node_modules/p", "."],
])("requires trust for files behind a link below the working directory in %s", async (_, real, cwd) => {
  await write(`${real}/.claude/skills/x/SKILL.md`, "one");
  await mkdir(join(repo, cwd), { recursive: true });
  await wants("claude", join(repo, cwd));
  await symlink(join(repo, real), join(repo, cwd, "linked"));
  await expect(wants("claude", join(repo, cwd))).rejects.toEqual(untrusted("SKILL.md"));
  await trust(join(repo, cwd), env);
  await wants("claude", join(repo, cwd));
});

it.each<ProgramFamily | undefined>(["claude", "codex", "gemini", "opencode", undefined])(
  "does not start %s in a bare repository inside a checkout",
  async (family) => {
    await write("docs/embedded/HEAD", "ref: refs/heads/main\n");
    await mkdir(join(repo, "docs/embedded/refs"));
    await mkdir(join(repo, "docs/embedded/objects/info"), { recursive: true });
    await wants(family);
    for (const cwd of ["docs/embedded", "docs/embedded/objects/info"]) {
      await expect(wants(family, join(repo, cwd))).rejects.toEqual(untrusted("docs/embedded"));
    }
  },
);

it("does not start an unknown program in a repository with files for any known program", async () => {
  const unknown = async () =>
    (await loadConfig({ cwd: repo, env })).requireTrustFor({ family: undefined, local: false });
  await unknown();
  await write(".gemini/settings.json", "{}");
  await expect(unknown()).rejects.toEqual(untrusted(".gemini/settings.json"));
  await trust(repo, env);
  await unknown();
});

it("hashes a directory that links to itself once", async () => {
  await write(".opencode/plugin/a.ts", "a");
  await symlink("..", join(repo, ".opencode/plugin/up"));
  await trust(repo, env);
  await wants("opencode");
});

it("ignores the files of other programs", async () => {
  await write(".claude/settings.json", "{}");
  await wants("codex");
  expect((await loadConfig({ cwd: repo, env })).trust).toMatchObject({ status: "nothing_to_trust" });
});

it("hashes files in the working directory like those in the root", async () => {
  await write("packages/a/.codex/config.toml", "");
  await wants("codex");
  await expect(wants("codex", join(repo, "packages/a"))).rejects.toEqual(untrusted("packages/a/.codex/config.toml"));
  await trust(join(repo, "packages/a"), env);
  await wants("codex", join(repo, "packages/a"));
});

it("keeps trust when another directory of the repository is trusted later", async () => {
  await write(".claude/settings.json", "{}");
  await write("a/.claude/settings.json", "{}");
  await trust(join(repo, "a"), env);
  await trust(repo, env);
  await wants("claude", join(repo, "a"));
});

it("requires trust for a program in the repository's packages only if it is started", async () => {
  await write("node_modules/.bin/codex", "#!/bin/sh\nrm -rf ~\n");
  await wants("codex");
  await expect(wants("codex", repo, true)).rejects.toEqual(untrusted("node_modules/.bin/codex"));
  await trust(repo, env);
  await wants("codex", repo, true);
});

it.each(["node_modules/@openai/codex/lib/more.js", "node_modules/@openai/codex-linux-x64/vendor/codex"])(
  "does not start a program in the repository's packages after %s changed",
  async (file) => {
    await write("node_modules/@openai/codex/bin/codex.js", "start()");
    await write(
      "node_modules/@openai/codex/package.json",
      JSON.stringify({ optionalDependencies: { "@openai/codex-linux-x64": "1" } }),
    );
    await write(file, "one");
    await mkdir(join(repo, "node_modules/.bin"));
    await symlink("../@openai/codex/bin/codex.js", join(repo, "node_modules/.bin/codex"));
    await trust(repo, env);
    await wants("codex", repo, true);
    await write(file, "two");
    await expect(wants("codex", repo, true)).rejects.toEqual(untrusted("changed since"));
  },
);

it("hashes a .gitignore unless opencode wrote it", async () => {
  await write(
    ".claude/settings.json",
    '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"sh .claude/.gitignore"}]}]}}',
  );
  await write(".claude/.gitignore", "# nothing yet\n");
  await trust(repo, env);
  await wants("claude");
  await write(".claude/.gitignore", "touch /tmp/ran\n");
  await expect(wants("claude")).rejects.toEqual(untrusted(".claude/.gitignore"));
  await write(".claude/.gitignore", "# nothing yet\n");
  await write(".opencode/.gitignore", "node_modules\npackage.json\nbun.lock\n.gitignore");
  await wants("opencode");
});
