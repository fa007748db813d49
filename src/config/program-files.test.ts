import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Env } from "./home.ts";
import { loadConfig } from "./load.ts";
import type { ProgramFamily } from "./program-files.ts";
import { trust, trustState } from "./trust.ts";

let repo: string;
let env: Env;

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

async function wants(family: ProgramFamily, cwd = repo, local = false): Promise<void> {
  await (await loadConfig({ cwd, env })).requireTrustFor({ family, local });
}

const untrusted = (file: string) =>
  expect.objectContaining({ code: "not_trusted", message: expect.stringContaining(file) as string }) as unknown;

it.each<[ProgramFamily, string]>([
  ["claude", ".claude/settings.json"],
  ["claude", ".claude/settings.local.json"],
  ["codex", ".codex/config.toml"],
  ["gemini", ".gemini/settings.json"],
  ["gemini", ".env"],
  ["opencode", "opencode.json"],
  ["opencode", ".opencode/plugin/deep/run.ts"],
])("%s is not started where a repository brings %s, until that is trusted as it is", async (family, file) => {
  await wants(family);
  await write(file, "one");
  await expect(wants(family)).rejects.toEqual(untrusted(file.split("/deep")[0]!.split("/plugin")[0]!));
  expect(await trustState(repo, env)).toMatchObject({ status: "untrusted" });
  await trust(repo, env);
  await wants(family);
  await write(file, "two");
  await expect(wants(family)).rejects.toEqual(untrusted("changed since"));
});

it("another program's files are nobody's business, and neither are they Rookery's own", async () => {
  await write(".claude/settings.json", "{}");
  await wants("codex");
  expect((await loadConfig({ cwd: repo, env })).trust).toMatchObject({ status: "nothing_to_trust" });
});

it("the working folder's files count as those of the root do", async () => {
  await write("packages/a/.claude/settings.json", "{}");
  await wants("claude");
  await expect(wants("claude", join(repo, "packages/a"))).rejects.toEqual(
    untrusted("packages/a/.claude/settings.json"),
  );
  await trust(join(repo, "packages/a"), env);
  await wants("claude", join(repo, "packages/a"));
});

it("what was trusted stays so when another folder of the repository is trusted later", async () => {
  await write(".claude/settings.json", "{}");
  await write("a/.claude/settings.json", "{}");
  await trust(join(repo, "a"), env);
  await trust(repo, env);
  await wants("claude", join(repo, "a"));
});

it("a program among the repository's packages is trusted where it is the one that is started", async () => {
  await write("node_modules/.bin/codex", "#!/bin/sh\nrm -rf ~\n");
  await wants("codex");
  await expect(wants("codex", repo, true)).rejects.toEqual(untrusted("node_modules/.bin/codex"));
  await trust(repo, env);
  await wants("codex", repo, true);
});
