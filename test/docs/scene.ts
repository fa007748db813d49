/** Runs the snippets of a page: in a temporary repository and home, with a scripted model in place of a paid one. */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment, say, startModelServer, temporaryRepository } from "../../src/testing/index.ts";
import { ROOT } from "./documents.ts";

export interface Scene extends AsyncDisposable {
  /** Resolves with the output of both streams. Rejects with it if the exit code is another. */
  shell(script: string, exitCode: number): Promise<string>;
  module(source: string): Promise<string>;
  /** Starts `rookery serve` on a free port, once. Commands of the scene find it through its home. */
  serve(): Promise<void>;
}

const COMMAND = join(ROOT, "dist/cli/main.cjs");
const TIMEOUT_MS = 120_000;

export async function openScene(): Promise<Scene> {
  const repository = await temporaryRepository({ "package.json": "{}\n", "README.md": "# hello\n" });
  const model = await startModelServer(() => say("Done."));
  const home = join(repository.path, "..", `${repository.path.split("/").at(-1) ?? ""}-home`);
  const bin = join(home, "bin");
  await mkdir(bin, { recursive: true });
  await mkdir(join(home, "node_modules"));
  await symlink(ROOT, join(home, "node_modules", "rookery"));
  await writeFile(join(bin, "rookery"), `#!/bin/sh\nexec "${process.execPath}" "${COMMAND}" "$@"\n`);
  await chmod(join(bin, "rookery"), 0o755);
  const base = builtEnvironment({ home });
  const env = {
    ...base,
    PATH: `${bin}:${base["PATH"] ?? ""}`,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: "fake",
    GIT_CONFIG_GLOBAL: "/dev/null",
  };
  let server: ChildProcess | undefined;
  let modules = 0;
  return {
    shell: (script, exitCode) =>
      run("bash", ["--norc", "-eu", "-o", "pipefail", "-c", script], { env, cwd: repository.path }, exitCode),
    async module(source) {
      const file = join(home, `snippet-${(modules += 1)}.mjs`);
      await writeFile(file, source);
      return run(process.execPath, [file], { env, cwd: repository.path }, 0);
    },
    async serve() {
      if (server !== undefined) return;
      server = spawn(process.execPath, [COMMAND, "serve", "--port", "0"], { cwd: repository.path, env });
      const exited = once(server, "exit").then(() => Promise.reject(new Error("rookery serve ended")));
      await Promise.race([once(server.stdout ?? server, "data"), exited]);
    },
    async [Symbol.asyncDispose]() {
      if (server !== undefined && server.exitCode === null) {
        const exited = once(server, "exit");
        server.kill();
        await exited;
      }
      await model.close();
      await rm(home, { recursive: true, force: true, maxRetries: 5 });
      await repository[Symbol.asyncDispose]();
    },
  };
}

interface RunOptions {
  readonly env: Record<string, string>;
  readonly cwd: string;
}

function run(file: string, args: readonly string[], options: RunOptions, expected: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, { ...options, timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      const exitCode = child.exitCode ?? -1;
      if (exitCode === expected) resolve(stdout + stderr);
      else reject(new Error(`exit code ${exitCode}, not ${expected}: ${error?.message ?? ""}\n${stdout}${stderr}`));
    });
    child.stdin?.end();
  });
}
