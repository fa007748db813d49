/** Writes a git repository as ordinary files, as a hostile clone can contain it in any folder. Only for Rookery's own tests. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { builtEnvironment } from "../../src/testing/environment.ts";

export interface IndexEntry {
  readonly path: string;
  /** The git mode: 0o100644 for a file, 0o040000 for a folder of a sparse index, 0o160000 for a submodule. */
  readonly mode: number;
  /** Default: the hash of an object that does not exist. */
  readonly object?: string | undefined;
}

export interface EmbeddedRepository {
  /** Added to the configuration. */
  readonly config?: string | undefined;
  readonly index?: readonly IndexEntry[] | undefined;
  /** Whether the index is sparse: it may contain folders instead of their files. */
  readonly isSparse?: boolean | undefined;
}

/** Writes a branch `main` with one commit that contains `a.txt`. Git accepts the folder as a repository without a `.git`. */
export function writeEmbeddedRepository(folder: string, { config = "", index, isSparse }: EmbeddedRepository): void {
  mkdirSync(folder, { recursive: true });
  const env = builtEnvironment({ home: folder, extra: { GIT_CONFIG_GLOBAL: "/dev/null" } });
  const git = (args: readonly string[], input = "") =>
    execFileSync("git", [`--git-dir=${folder}`, ...args], { env, cwd: folder, input, encoding: "utf8" }).trim();
  git(["init", "--quiet", "--bare", "--template=", "--initial-branch=main"]);
  const blob = git(["hash-object", "-w", "--stdin"], "embedded\n");
  const tree = git(["mktree"], `100644 blob ${blob}\ta.txt\n`);
  const who = ["-c", "user.name=E", "-c", "user.email=e@rookery.invalid"];
  git(["update-ref", "refs/heads/main", git([...who, "commit-tree", "-m", "Embedded", tree])]);
  writeFileSync(join(folder, "config"), `[core]\n\trepositoryformatversion = 1\n\tbare = false\n${config}`);
  writeFileSync(
    join(folder, "index"),
    encodeIndex(index ?? [{ path: "a.txt", mode: 0o100644, object: blob }], isSparse),
  );
}

/** Writes a program that creates the file `canary` when it runs. */
export function writeCanary(program: string, canary: string): void {
  mkdirSync(dirname(program), { recursive: true });
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> '${canary}'\nexit 1\n`);
  chmodSync(program, 0o755);
}

/** Encodes version 2 of git's index. Git itself would not write such paths. */
function encodeIndex(entries: readonly IndexEntry[], isSparse = false): Buffer {
  const header = Buffer.alloc(12);
  header.write("DIRC", "latin1");
  header.writeUInt32BE(2, 4);
  header.writeUInt32BE(entries.length, 8);
  const extension = isSparse ? [Buffer.from("sdir\0\0\0\0", "latin1")] : [];
  const body = Buffer.concat([header, ...entries.map(encodeEntry), ...extension]);
  return Buffer.concat([body, createHash("sha1").update(body).digest()]);
}

function encodeEntry({ path, mode, object = "12".repeat(20) }: IndexEntry): Buffer {
  const name = Buffer.from(path);
  const length = 62 + name.length;
  const entry = Buffer.alloc(length + 8 - (length % 8));
  entry.writeUInt32BE(mode, 24);
  Buffer.from(object, "hex").copy(entry, 40);
  entry.writeUInt16BE(Math.min(name.length, 0xfff), 60);
  name.copy(entry, 62);
  return entry;
}
