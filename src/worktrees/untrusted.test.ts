import { existsSync, readFileSync, readdirSync } from "node:fs";
import { appendFile, chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { writeCanary, writeEmbeddedRepository } from "../../test/support/embedded-repository.ts";
import { temporaryFolder, temporaryRepository, type TemporaryFolder } from "../testing/repository.ts";
import { collectWorktrees, examineWorktrees } from "./collect/index.ts";
import { commitAll } from "./commit.ts";
import { readWorktreeDiff } from "./diff.ts";
import { leaseWorktree } from "./lease.ts";
import { readWorktreeStatus } from "./status.ts";
import { findLoss } from "./loss.ts";
import { mergeBranch, predictBranchMerge } from "./merge/index.ts";
import type { Mirror } from "./mirror/mirror.ts";
import { openMergeRemote } from "./mirror/publish.ts";
import { restoreWorktree } from "./mirror/restore.ts";
import { openRemoteScene, type RemoteScene } from "./mirror/test-remote.ts";
import { WorkInProgress, claimWorkInProgress, deleteWorkInProgress } from "./mirror/work-in-progress.ts";
import { removeWorktree } from "./remove.ts";
import { openRepository, type Repository } from "./repository.ts";
import { MARKER, expectRejection, testGitOptions } from "./test-scene.ts";
import { PROGRAM_SETTINGS, parsePrograms, type ProgramRule } from "./untrusted.ts";

const HOOKS = ["post-checkout", "pre-commit", "commit-msg", "post-commit", "post-merge", "reference-transaction"];
const SWITCHES = ["gpgsign", "showsignature", "verifysignatures", "recurse", "required"];

/** Configures every setting of the table with a program that records that it ran. */
class Canaries implements AsyncDisposable {
  readonly #folder: TemporaryFolder;
  constructor(folder: TemporaryFolder) {
    this.#folder = folder;
    for (const hook of [...HOOKS, "post-index-change"]) writeCanary(join(folder.path, "hooks", hook), this.#ran);
  }

  get #ran(): string {
    return join(this.#folder.path, "ran");
  }

  config(rules: readonly ProgramRule[]): string {
    const lines = PROGRAM_SETTINGS.filter(({ rule }) => rules.includes(rule)).map(({ key }) => {
      const parts = key.replace("*", "evil").split(".");
      const name = parts.pop() ?? "";
      const [section, ...between] = parts;
      const head = between.length === 0 ? `[${section}]` : `[${section} "${between.join(".")}"]`;
      return `${head}\n\t${name} = ${this.#value(key, name.toLowerCase())}\n`;
    });
    return `${lines.join("")}[protocol]\n\tallow = always\n[remote "evil"]\n\turl = .\n[hook "evil"]\n\tevent = pre-commit\n`;
  }

  #value(key: string, name: string): string {
    if (SWITCHES.includes(name)) return "true";
    if (key === "core.hooksPath") return join(this.#folder.path, "hooks");
    const program = join(this.#folder.path, key.replace("*", "evil"));
    writeCanary(program, this.#ran);
    return key.startsWith("submodule.") && name === "update" ? `!${program}` : program;
  }

  /** Writes a program that records that it ran. Returns its path. */
  writeProgram(path: string): string {
    writeCanary(path, this.#ran);
    return path;
  }

  get ran(): string {
    return existsSync(this.#ran) ? readFileSync(this.#ran, "utf8") : "";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#folder[Symbol.asyncDispose]();
  }
}

const canaries = async () => new Canaries(await temporaryFolder());
const ATTRIBUTES = "* filter=evil merge=evil diff=evil\n";

/** Runs every feature that uses git. `change` plays the agent in the worktree. */
async function runEveryFeature(repository: Repository, change: (path: string) => Promise<void>): Promise<void> {
  const worktree = await leaseWorktree(repository, { id: "t1", branch: "rookery/t1" });
  await writeFile(join(worktree.path, "a.txt"), "changed by the agent\n");
  await writeFile(join(worktree.path, "new.txt"), "new\n");
  await change(worktree.path);
  await readWorktreeStatus(worktree, repository);
  await readWorktreeDiff(worktree, repository, { patch: true });
  await findLoss(worktree, repository);
  await commitAll(worktree, repository, { message: "Work" });
  await readWorktreeDiff(worktree, repository, { patch: true });
  const how = { branch: worktree.branch, into: "main", message: "Merge", marker: MARKER } as const;
  const gate = { command: "true", timeoutMs: 60_000, env: repository.options.env, onOutput: () => undefined };
  for (const way of ["merge", "squash", "rebase"] as const) await predictBranchMerge(repository, { ...how, how: way });
  await mergeBranch(repository, { ...how, how: "rebase", gate });
  await collectWorktrees(repository, await examineWorktrees(repository, []), { dryRun: false });
  await leaseWorktree(repository, { id: "t1", branch: "rookery/t1" });
  await removeWorktree(repository, worktree, { force: true });
}

describe("does not run a program that is named", () => {
  it("by the user's repository, except filters and merge drivers", async () => {
    await using programs = await canaries();
    await using user = await temporaryRepository({ "a.txt": "one\n", ".gitattributes": ATTRIBUTES });
    await appendFile(join(user.path, ".git/config"), programs.config(["never", "user", "flag"]));
    await runEveryFeature(await openRepository(user.path, testGitOptions(user.path)), () => Promise.resolve());
    expect(programs.ran).toBe("");
  });

  it.each(["added", "untracked", "in a submodule"])("by a nested repository that is %s", async (how) => {
    await using programs = await canaries();
    await using user = await temporaryRepository({ "a.txt": "one\n" });
    const repository = await openRepository(user.path, testGitOptions(user.path));
    await runEveryFeature(repository, async (path) => {
      const outer = join(path, how === "in a submodule" ? "sub/deep" : "sub");
      for (const folder of how === "in a submodule" ? [join(path, "sub"), outer] : [outer]) {
        await mkdir(folder, { recursive: true });
        await user.git("init", "--quiet", folder);
        await writeFile(join(folder, "f"), "f\n");
        await writeFile(join(folder, ".gitattributes"), ATTRIBUTES);
        await user.git("-C", folder, "add", "--all");
        await user.git("-C", folder, "-c", "user.name=e", "-c", "user.email=e@x.invalid", "commit", "-qm", "Evil");
      }
      if (how === "in a submodule") await user.git("-C", join(path, "sub"), "add", "deep");
      if (how !== "untracked") await user.git("-C", path, "add", "sub");
      await appendFile(join(outer, ".git/config"), programs.config(["never", "user", "flag", "driver"]));
      await writeFile(join(outer, "f"), "changed\n");
    });
    expect(programs.ran).toBe("");
  });

  it("by a partial clone with missing objects", async () => {
    await using programs = await canaries();
    await using user = await temporaryRepository({ "a.txt": "one\n", "b.txt": "gone\n" });
    const blob = await user.git("rev-parse", "HEAD:b.txt");
    const file = join(user.path, ".git/objects", blob.slice(0, 2), blob.slice(2));
    await chmod(file, 0o644);
    await rm(file);
    await appendFile(join(user.path, ".git/config"), programs.config(["never", "user", "flag"]));
    await user.git("config", "remote.evil.promisor", "true");
    await user.git("config", "remote.evil.url", "ext::sh -c 'touch ran-by-ext'");
    await user.git("config", "protocol.ext.allow", "always");
    const repository = await openRepository(user.path, testGitOptions(user.path));
    await leaseWorktree(repository, { id: "t1", branch: "rookery/t1" }).catch(() => undefined);
    expect(programs.ran).toBe("");
    expect(existsSync(join(user.path, "ran-by-ext"))).toBe(false);
  });
});

describe("fetching and pushing run no program that is configured", () => {
  /** Runs every feature that contacts a remote, on two hosts. */
  async function runEveryRemoteFeature(scene: RemoteScene, spoil: (mirror: Mirror) => Promise<void>): Promise<void> {
    const task = { id: "t1", createdAt: "2026-01-01T00:00:00.000Z" };
    const open = async (name: string) => {
      await spoil(await scene.host(name).open());
      return scene.host(name).open();
    };
    const [a, b] = [await open("a"), await open("b")];
    const branch = "rookery/t1";
    const worktree = await leaseWorktree(a.repository, { id: "t1", branch, base: "origin/main" });
    await writeFile(join(worktree.path, "new.txt"), "new\n");
    await new WorkInProgress(a, task, undefined).save(worktree, { message: "Work in progress" });
    await b.fetch();
    const snapshot = (await claimWorkInProgress(b, task, { message: "Taken over" })) ?? "";
    const { worktree: restored } = await restoreWorktree(b.repository, { ...worktree, snapshot });
    await commitAll(restored, b.repository, { message: "Work" });
    const how = { branch, into: "main", how: "merge", message: "Merge", marker: MARKER } as const;
    const report = await mergeBranch(b.repository, { ...how, remote: openMergeRemote(b, "main") });
    expect(report.outcome).toBe("merged");
    await deleteWorkInProgress(b, task);
  }

  it("by the configuration and the hooks of a mirror, which an agent may have changed", async () => {
    await using programs = await canaries();
    await using scene = await openRemoteScene({ "a.txt": "one\n", ".gitattributes": ATTRIBUTES });
    await runEveryRemoteFeature(scene, async ({ repository, transport: { gitDir, url } }) => {
      const redirect = `[url "ext::sh -c false "]\n\tinsteadOf = ${url}\n[remote "${url}"]\n\tvcs = evil\n`;
      await appendFile(join(gitDir, "config"), `${programs.config(["never", "user", "flag", "driver"])}${redirect}`);
      await appendFile(join(repository.commonDir, "config"), programs.config(["never", "user", "flag"]));
      for (const hook of ["pre-push", "reference-transaction", "post-checkout"]) {
        programs.writeProgram(join(gitDir, "hooks", hook));
        programs.writeProgram(join(repository.commonDir, "hooks", hook));
      }
      const other = join(repository.commonDir, "other");
      writeEmbeddedRepository(other, { config: `[url "${other}"]\n\tinsteadOf = ${url}\n` });
      programs.writeProgram(join(other, "hooks/pre-receive"));
      await writeFile(join(gitDir, "commondir"), other);
    });
    expect(programs.ran).toBe("");
  });

  it("by the files and the configuration of the remote", async () => {
    await using programs = await canaries();
    await using scene = await openRemoteScene({ "a.txt": "one\n", ".gitattributes": ATTRIBUTES });
    const hook = `[uploadpack]\n\tpackObjectsHook = ${programs.writeProgram(join(scene.remote, "pack-objects"))}\n`;
    await appendFile(join(scene.remote, "config"), `${programs.config(["user", "flag", "driver"])}${hook}`);
    // A mirror in the checkout would get this file, and its configuration from the repository among the files.
    const { user } = scene;
    writeEmbeddedRepository(join(user.path, "evil"), { config: `[url "../evil"]\n\tinsteadOf = ${scene.remote}\n` });
    programs.writeProgram(join(user.path, "evil/hooks/pre-receive"));
    await user.write("mirror.git/commondir", "../evil\n");
    await user.git("add", "--all");
    await user.git("commit", "--quiet", "--message=Files");
    await user.git("push", "--quiet", "origin", "main");
    await runEveryRemoteFeature(scene, () => Promise.resolve());
    expect(programs.ran).toBe("");
  });
});

describe("a remote that is a part of a checkout", () => {
  it.each<[string, string, (folder: string) => string]>([
    ["made of its files", "evil.git", (folder) => join(folder, "evil.git")],
    ["named without its suffix", "evil.git", (folder) => join(folder, "evil")],
    ["named with a URL", "ev il.git", (folder) => `file://${folder}/ev%20il.git`],
    ["in its git folder", ".git/evil.git", (folder) => join(folder, ".git/evil.git")],
    ["the checkout itself", ".git", (folder) => folder],
  ])("is refused if it is %s, and none of its programs runs", async (_, at, toUrl) => {
    await using programs = await canaries();
    await using scene = await openRemoteScene();
    const { path } = scene.user;
    if (at !== ".git") await scene.user.git("clone", "--quiet", "--bare", path, join(path, at));
    for (const hook of ["pre-receive", "update", "post-receive", "reference-transaction"]) {
      programs.writeProgram(join(path, at, "hooks", hook));
    }
    await appendFile(join(path, at, "config"), programs.config(["never", "user", "flag", "driver"]));
    const url = toUrl(path);
    const pushed = scene
      .host("a")
      .open({ url })
      .then(async (mirror) => {
        const worktree = await leaseWorktree(mirror.repository, { id: "t1", branch: "b", base: "origin/main" });
        await new WorkInProgress(mirror, { id: "t1", createdAt: "" }).save(worktree, { message: "Work" });
      });
    await pushed.catch(() => undefined);
    expect(programs.ran).toBe("");
    await expectRejection(pushed, "repository_bare", /is a part of the checkout/);
  });
});

describe("a repository made of files of a checkout", () => {
  it.each<[string, (folder: string) => Promise<unknown>, string]>([
    ["at its root", () => Promise.resolve(), "evil"],
    ["from a folder inside it", () => Promise.resolve(), "evil/refs/heads"],
    ["through a .git file", (folder) => writeFile(join(folder, "at/.git"), "gitdir: ../evil\n"), "at"],
    [
      "through the .git folder of another one",
      async (folder) => {
        await mkdir(join(folder, "at/.git"));
        await writeFile(join(folder, "at/.git/HEAD"), "ref: refs/heads/main\n");
        await writeFile(join(folder, "at/.git/commondir"), "../../evil\n");
      },
      "at",
    ],
  ])("is rejected %s, and none of its programs runs", async (_, link, cwd) => {
    await using programs = await canaries();
    await using user = await temporaryRepository({ "a.txt": "one\n" });
    const config = `\tworktree = ../at\n${programs.config(["never", "user", "flag", "driver"])}`;
    await mkdir(join(user.path, "at"));
    await writeFile(join(user.path, "at/.gitattributes"), ATTRIBUTES);
    writeEmbeddedRepository(join(user.path, "evil"), { config });
    await link(user.path);
    await expectRejection(
      openRepository(join(user.path, cwd), testGitOptions(user.path)),
      "repository_bare",
      /evil is a git repository made of files in .*not run/,
    );
    expect(programs.ran).toBe("");
  });

  it("with a .git folder is rejected only if its settings name programs", async () => {
    await using programs = await canaries();
    await using user = await temporaryRepository({ "a.txt": "one\n" });
    writeEmbeddedRepository(join(user.path, "inner/.git"), { config: programs.config(["user"]) });
    const open = () => openRepository(join(user.path, "inner"), testGitOptions(user.path));
    expect((await open()).root).toBe(join(user.path, "inner"));
    await appendFile(join(user.path, "inner/.git/config"), programs.config(["driver"]));
    await expectRejection(open(), "not_trusted", /filter\.evil\.clean/);
    expect(programs.ran).toBe("");
  });
});

it("does not follow a worktree's .git that points elsewhere", async () => {
  await using programs = await canaries();
  await using user = await temporaryRepository({ "a.txt": "one\n" });
  const repository = await openRepository(user.path, testGitOptions(user.path));
  const worktree = await leaseWorktree(repository, { id: "t1", branch: "rookery/t1" });
  writeEmbeddedRepository(join(worktree.path, "evil"), {
    config: programs.config(["never", "user", "flag", "driver"]),
  });
  await writeFile(join(worktree.path, ".git"), "gitdir: evil\n");
  await writeFile(join(worktree.path, ".gitattributes"), ATTRIBUTES);
  for (const read of [readWorktreeStatus, readWorktreeDiff])
    await expectRejection(read(worktree, repository), "worktree_missing");
  await expectRejection(commitAll(worktree, repository, { message: "Work" }), "worktree_missing");
  await expectRejection(repository.git(["status"], { cwd: worktree.path }), "worktree_missing");
  await collectWorktrees(repository, await examineWorktrees(repository, []), { dryRun: false });
  expect(programs.ran).toBe("");
});

it("prefers the user's settings over those of the repository", () => {
  const listed = [
    ...[
      "system",
      "credential.helper\nmine",
      "global",
      "core.sshcommand\nssh -i mine",
      "global",
      "filter.lfs.clean\nlfs",
    ],
    ...["local", "credential.helper\ntheirs", "local", "core.sshcommand\ntheirs", "local", "filter.lfs.clean\ntheirs"],
    ...["local", "remote.a.b.uploadpack\ntheirs", "local", "filter.A=B.smudge\ntheirs", "worktree", "core.bare"],
  ].join("\0");
  expect(parsePrograms(`${listed}\0`)).toEqual({
    overrides: [
      ["credential.helper", ""],
      ["credential.helper", "mine"],
      ["core.sshcommand", "ssh -i mine"],
      ["remote.a.b.uploadpack", "git-upload-pack"],
    ],
    driverOverrides: [
      ["filter.lfs.clean", "lfs"],
      ["filter.A=B.smudge", ""],
    ],
    drivers: ["filter.lfs.clean", "filter.A=B.smudge"],
    isPartial: false,
  });
});

it("disables all configured hooks and the git-lfs programs of a repository", () => {
  const listed = [
    ...[
      "global",
      "hook.lint.command\nmine",
      "local",
      "hook.A.b.command\ntheirs",
      "local",
      "hook.A.b.event\npre-commit",
    ],
    ...["global", "lfs.customtransfer.x.path\nmine", "local", "lfs.customtransfer.x.path\ntheirs"],
    ...["local", "lfs.extension.y.clean\ntheirs"],
  ].join("\0");
  expect(parsePrograms(`${listed}\0`)).toMatchObject({
    overrides: [
      ["hook.A.b.command", "true"],
      ["hook.lint.command", "true"],
    ],
    drivers: ["lfs.customtransfer.x.path", "lfs.extension.y.clean"],
  });
});

it("starts git in one module only, except for the version check of doctor", () => {
  const source = fileURLToPath(new URL("..", import.meta.url));
  const files = readdirSync(source, { recursive: true, encoding: "utf8" }).filter(
    (file) => file.endsWith(".ts") && !/test|fleet\//.test(file),
  );
  const starting = /(?:startGroup|spawn|spawnSync|execFile|execFileSync|promisify\(execFile\))\(\s*["'`]git\b/;
  const found = files.filter((file) => starting.test(readFileSync(join(source, file), "utf8")));
  expect(found.sort()).toEqual(["cli/doctor/checks.ts", "worktrees/git.ts"]);
});
