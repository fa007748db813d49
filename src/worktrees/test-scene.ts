/** A temporary repository for tests, opened the way the pool opens it, in an isolated environment. */
import { expect } from "vitest";
import { RookeryError, messageOf, type ErrorCode } from "../domain/index.ts";
import { builtEnvironment } from "../testing/environment.ts";
import { temporaryRepository, type TemporaryRepository } from "../testing/repository.ts";
import type { EnvironmentVariables } from "../stdx/index.ts";
import type { GitOptions } from "./git.ts";
import { openRepository, type Repository, type RepositoryOptions } from "./repository.ts";

export interface Scene extends AsyncDisposable {
  /** The user's checkout. */
  readonly user: TemporaryRepository;
  readonly repository: Repository;
  readonly env: EnvironmentVariables;
}

export const MARKER = `test-worktrees-${process.pid}`;

export function testEnvironment(home: string, extra: Readonly<Record<string, string>> = {}): EnvironmentVariables {
  return builtEnvironment({ home, extra: { GIT_CONFIG_GLOBAL: "/dev/null", ...extra } });
}

export function testGitOptions(home: string, extra?: Readonly<Record<string, string>>): GitOptions {
  return { env: testEnvironment(home, extra), marker: MARKER };
}

export async function openScene(
  files: Readonly<Record<string, string>> = { "a.txt": "one\n" },
  options: Partial<RepositoryOptions> = {},
): Promise<Scene> {
  const user = await temporaryRepository(files);
  const env = options.env ?? testEnvironment(user.path);
  const repository = await openRepository(user.path, { marker: MARKER, ...options, env });
  return { user, repository, env, [Symbol.asyncDispose]: () => user[Symbol.asyncDispose]() };
}

/** Expects a rejection with this code and a message that matches `message`. */
export async function expectRejection(work: Promise<unknown>, code: ErrorCode, message: RegExp = /./): Promise<void> {
  const error: unknown = await work.then(
    () => "did not reject",
    (thrown: unknown) => thrown,
  );
  expect([error instanceof RookeryError ? error.code : error, messageOf(error)]).toEqual([
    code,
    expect.stringMatching(message),
  ]);
}
