/** A repository of a test's, opened as the pool opens it, in an environment that knows nothing of the user's. */
import { expect } from "vitest";
import { RookeryError, messageOf, type ErrorCode } from "../domain/index.ts";
import { builtEnvironment } from "../testing/environment.ts";
import { temporaryRepository, type TemporaryRepository } from "../testing/repository.ts";
import type { Env, GitOptions } from "./git.ts";
import { openRepository, type Repository, type RepositoryOptions } from "./repository.ts";

export interface Scene extends AsyncDisposable {
  /** The user's checkout. */
  readonly user: TemporaryRepository;
  readonly repository: Repository;
  readonly env: Env;
}

export const MARKER = `test-worktrees-${process.pid}`;

export function testEnvironment(home: string, extra: Readonly<Record<string, string>> = {}): Env {
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

/** It rejects with that code, in these words. */
export async function expectRejection(work: Promise<unknown>, code: ErrorCode, words: RegExp = /./): Promise<void> {
  const error: unknown = await work.then(
    () => "nothing was refused",
    (thrown: unknown) => thrown,
  );
  expect([error instanceof RookeryError ? error.code : error, messageOf(error)]).toEqual([
    code,
    expect.stringMatching(words),
  ]);
}
