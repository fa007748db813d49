/** Stores which repositories the user trusts, by real path and by the content of their files. */
import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { RookeryError } from "../domain/errors.ts";
import { makeFolder } from "../stdx/folder.ts";
import { type RepositoryFiles, readRepositoryFiles } from "./repository-files.ts";
import { readTextFile } from "./files.ts";
import { hashInstructions } from "./instruction-files.ts";
import { homeFolder } from "./home.ts";
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { binaryFiles, orderFiles, type ProgramFiles } from "./program-files.ts";
import { PROGRAM_FAMILIES, type ProgramFamily } from "../domain/program-family.ts";
import type { FileHashes } from "./tree-hash.ts";

export type TrustState =
  | { readonly status: "nothing_to_trust"; readonly root: string }
  | {
      readonly status: "trusted";
      readonly root: string;
      readonly files: readonly string[];
      readonly tooLarge?: TooLarge;
    }
  | {
      readonly status: "untrusted";
      readonly root: string;
      readonly files: readonly string[];
      /** Files whose content differs from the trusted one, and new files. */
      readonly changed: readonly string[];
      readonly tooLarge?: TooLarge;
    };

/** Paths that cannot be hashed within the limits, with the reason. They are never trusted. */
export type TooLarge = Readonly<Record<string, string>>;

/** Built on demand, because few directories need it. */
const Ledger = z.lazy(() =>
  z.strictObject({
    version: z.literal(1),
    repositories: z.record(
      z.string(),
      z.strictObject({ at: z.iso.datetime(), files: z.record(z.string(), z.string()) }),
    ),
  }),
);
type Ledger = z.infer<typeof Ledger>;

/** The trust state of everything in the repository, for any agent. `dir` is any directory of it. */
export async function trustState(dir: string, env: EnvironmentVariables): Promise<TrustState> {
  const brought = await readRepositoryFiles(dir);
  return evaluateTrust({ ...brought, ...(await hashEverything(brought)) }, env);
}

/**
 * Trusts the current content, in addition to earlier trust in other directories of the repository. Resolves with the
 * trusted files. Files that are too large to hash stay untrusted and are listed in `tooLarge`.
 */
export async function trust(dir: string, env: EnvironmentVariables): Promise<TrustState> {
  const brought = await readRepositoryFiles(dir);
  const { hashes, unhashable } = await hashEverything(brought);
  const files = Object.keys(hashes);
  const tooLarge = Object.keys(unhashable).length > 0 && { tooLarge: unhashable };
  if (files.length === 0 && tooLarge === false) return { status: "nothing_to_trust", root: brought.root };
  const ledger = await readLedger(env);
  const { checkout } = brought;
  const entry = { at: new Date().toISOString(), files: { ...ledger.repositories[checkout]?.files, ...hashes } };
  await writeLedger(env, { ...ledger, repositories: { ...ledger.repositories, [checkout]: entry } });
  return { status: "trusted", root: brought.root, files, ...tooLarge };
}

/**
 * Trusts the files of a checkout that have the same path and content as trusted files of another one. For the mirror of a
 * repository on the host of a person who trusts that repository.
 */
export async function copyTrust(from: string, to: string, env: EnvironmentVariables): Promise<void> {
  const ledger = await readLedger(env);
  const known = ledger.repositories[from]?.files;
  if (known === undefined) return;
  const { hashes } = await hashEverything(await readRepositoryFiles(to));
  const files = ledger.repositories[to]?.files ?? {};
  const same = Object.entries(hashes).filter(([file, hash]) => known[file] === hash && files[file] !== hash);
  if (same.length === 0) return;
  const entry = { at: new Date().toISOString(), files: { ...files, ...Object.fromEntries(same) } };
  await writeLedger(env, { ...ledger, repositories: { ...ledger.repositories, [to]: entry } });
}

export interface DrivenProgram {
  /** Undefined for an unknown program, which may start any other. */
  readonly family: ProgramFamily | undefined;
  /** True if the program is in the packages of the repository. */
  readonly local: boolean;
}

/** The trust state of the files that Rookery itself uses, and of those that the agent's program obeys. */
export async function evaluateTrustFor(
  brought: RepositoryFiles,
  { family, local }: DrivenProgram,
  env: EnvironmentVariables,
): Promise<TrustState> {
  const families = family === undefined ? PROGRAM_FAMILIES : [family];
  const files = [
    ...families.map((each) => orderFiles(brought, each, family !== undefined)),
    ...(local && family !== undefined ? [binaryFiles(brought, family)] : []),
  ];
  return evaluateTrust({ ...brought, ...mergeProgramFiles(brought.hashes, await Promise.all(files)) }, env);
}

interface HashedRepository extends Pick<RepositoryFiles, "root" | "checkout" | "hashes"> {
  readonly unhashable?: TooLarge;
}

/** Accepts content that is trusted for the repository or for this checkout, which differ in the worktree of a task. */
export async function evaluateTrust(
  { root, checkout, hashes, unhashable = {} }: HashedRepository,
  env: EnvironmentVariables,
): Promise<TrustState> {
  const files = Object.keys(hashes);
  const tooLarge = Object.keys(unhashable).length > 0 && { tooLarge: unhashable };
  if (files.length === 0 && tooLarge === false) return { status: "nothing_to_trust", root };
  const { repositories } = await readLedger(env);
  const trusted = [root, checkout].flatMap((folder) => (repositories[folder] ? [repositories[folder].files] : []));
  if (trusted.length === 0) return { status: "untrusted", root, files, changed: [], ...tooLarge };
  const isKnown = (file: string) => trusted.some((known) => Object.hasOwn(known, file) && known[file] === hashes[file]);
  const changed = files.filter((file) => !isKnown(file));
  return changed.length === 0 && tooLarge === false
    ? { status: "trusted", root, files }
    : { status: "untrusted", root, files, changed, ...tooLarge };
}

async function hashEverything(brought: RepositoryFiles): Promise<ProgramFiles> {
  const files = PROGRAM_FAMILIES.flatMap((family) => [orderFiles(brought, family), binaryFiles(brought, family)]);
  const own = { ...brought.hashes, ...(await hashInstructions(brought)) };
  return mergeProgramFiles(own, await Promise.all(files));
}

function mergeProgramFiles(hashes: FileHashes, files: readonly ProgramFiles[]): ProgramFiles {
  return {
    hashes: Object.assign({}, hashes, ...files.map((each) => each.hashes)) as FileHashes,
    unhashable: Object.assign({}, ...files.map((each) => each.unhashable)) as TooLarge,
  };
}

/** Throws `not_trusted` with the command to run. */
export function requireTrust(state: TrustState, dir = state.root): void {
  if (state.status !== "untrusted") return;
  const { root, files, changed, tooLarge } = state;
  if (tooLarge !== undefined) throw new RookeryError("not_trusted", formatTooLarge(root, tooLarge));

  const reason =
    changed.length > 0
      ? `${root} was trusted, but ${formatList(changed)} changed since then`
      : `${root} is not trusted yet: it contains ${formatList(files)}`;
  throw new RookeryError("not_trusted", `${reason}; review the files, then run: rookery trust ${quoteForShell(dir)}`);
}

/** Formats which paths cannot be checked, why, and what to do. */
export function formatTooLarge(root: string, tooLarge: TooLarge): string {
  const what = Object.entries(tooLarge).map(([path, why]) => `${path} (${why})`);
  const fix =
    'delete it, make it smaller or rename it, install the program outside of the repository (or name it with command = ["…"]), or start the agent in a subdirectory';
  return `${root} cannot be trusted: ${formatList(what)} cannot be checked, and the agent's program would obey it; ${fix}`;
}

const MAX_LISTED = 10;

function formatList(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}

/** Enough for thousands of files in hundreds of repositories. */
const MAX_LEDGER_BYTES = 64 * 1024 * 1024;

async function readLedger(env: EnvironmentVariables): Promise<Ledger> {
  const file = ledgerFile(env);
  const read = await readTextFile(file, MAX_LEDGER_BYTES);
  if (read === undefined) return { version: 1, repositories: {} };
  try {
    return Ledger.parse(JSON.parse(read.text));
  } catch (cause) {
    const message = `${file} is damaged; delete it, then trust your repositories again with \`rookery trust\``;
    throw new RookeryError("config_invalid", message, { cause });
  }
}

/** If two processes write at the same time, one entry may be lost, and its user is asked again. */
async function writeLedger(env: EnvironmentVariables, ledger: Ledger): Promise<void> {
  const file = ledgerFile(env);
  const draft = `${file}.${randomBytes(6).toString("hex")}`;
  makeFolder(dirname(file));
  try {
    await writeFile(draft, `${JSON.stringify(ledger, undefined, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function ledgerFile(env: EnvironmentVariables): string {
  return join(homeFolder(env), "trust.json");
}

function quoteForShell(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
