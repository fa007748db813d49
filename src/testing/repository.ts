/** Temporary folders and git repositories that ignore the user's git settings. */

import { execFile } from "node:child_process";
import { appendFile, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { builtEnvironment } from "./environment.ts";

export interface TemporaryFolder extends AsyncDisposable {
  /** Absolute, with symbolic links resolved. */
  readonly path: string;
}

export interface TemporaryRepository extends TemporaryFolder {
  /** Runs git in the repository and resolves with its output without the last newline. Rejects with git's error output. */
  git(...args: string[]): Promise<string>;
  /** Writes a file and creates its parent folders. */
  write(file: string, text: string): Promise<void>;
  read(file: string): Promise<string>;
}

export interface TemporaryRepositoryOptions {
  /** Default: `main`. */
  readonly branch?: string;
  /** Whether to commit the files. Without files, the commit is empty. Default: true. */
  readonly commit?: boolean;
}

/** Fixed identity and dates, so that the same files result in the same commit hash. */
const GIT_ENVIRONMENT = {
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_AUTHOR_DATE: "2025-01-01T00:00:00Z",
  GIT_COMMITTER_DATE: "2025-01-01T00:00:00Z",
};
const GIT_CONFIG = "[user]\n\tname = Rookery Test\n\temail = test@rookery.invalid\n[commit]\n\tgpgsign = false\n";
const GIT_TIMEOUT_MS = 60_000;
const GIT_MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

export async function temporaryFolder(): Promise<TemporaryFolder> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "rookery-test-")));
  return {
    path: folder,
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Creates a repository with these files and a configured committer identity. */
export async function temporaryRepository(
  files: Readonly<Record<string, string>> = {},
  { branch = "main", commit = true }: TemporaryRepositoryOptions = {},
): Promise<TemporaryRepository> {
  const folder = await temporaryFolder();
  const repository = openRepository(folder);
  try {
    await repository.git("init", "--quiet", `--initial-branch=${branch}`);
    await appendFile(path.join(folder.path, ".git", "config"), GIT_CONFIG); // faster than three git commands
    for (const [file, text] of Object.entries(files)) await repository.write(file, text);
    if (commit) {
      if (Object.keys(files).length > 0) await repository.git("add", "--all");
      await repository.git("commit", "--quiet", "--allow-empty", "--message=Initial commit");
    }
    return repository;
  } catch (error) {
    await folder[Symbol.asyncDispose]();
    throw error;
  }
}

function openRepository(folder: TemporaryFolder): TemporaryRepository {
  return {
    ...folder,
    git: (...args) => runGit(folder.path, args),
    async write(file, text) {
      const target = inside(folder.path, file);
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, text);
    },
    read: (file) => readFile(inside(folder.path, file), "utf8"),
  };
}

async function runGit(cwd: string, args: readonly string[]): Promise<string> {
  const options = {
    cwd,
    env: builtEnvironment({ home: cwd, extra: GIT_ENVIRONMENT }),
    timeout: GIT_TIMEOUT_MS,
    maxBuffer: GIT_MAX_OUTPUT_BYTES,
  };
  try {
    const { stdout } = await promisify(execFile)("git", args, options);
    return stdout.replace(/\n$/, "");
  } catch (cause) {
    const said = cause instanceof Error && "stderr" in cause ? String(cause.stderr).trim() : String(cause);
    throw new Error(`git ${args.join(" ")} failed in ${cwd}: ${said}`, { cause });
  }
}

function inside(folder: string, file: string): string {
  const target = path.resolve(folder, file);
  if (target !== folder && !target.startsWith(folder + path.sep)) {
    throw new Error(`${file} is outside of the temporary repository ${folder}`);
  }
  return target;
}
