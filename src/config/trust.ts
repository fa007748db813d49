/** Which repositories the user trusted, by real path and by the content of what they bring. */
import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { RookeryError } from "../domain/errors.ts";
import { makeFolder } from "../stdx/folder.ts";
import { type RepositoryFiles, readRepositoryFiles } from "./repository-files.ts";
import { readTextFile } from "./files.ts";
import { type Env, homeFolder } from "./home.ts";
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
      /** Those of them that were trusted with other content, or not at all while others were. */
      readonly changed: readonly string[];
      readonly tooLarge?: TooLarge;
    };

/** What cannot be hashed within the bounds, by path, with why: it is never trusted. */
export type TooLarge = Readonly<Record<string, string>>;

/** Built when there is one to read, as few folders need. */
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

/** Of all that the repository brings, for whatever agent. `dir` is any folder of it. */
export async function trustState(dir: string, env: Env): Promise<TrustState> {
  const brought = await readRepositoryFiles(dir);
  return evaluateTrust({ ...brought, ...(await hashEverything(brought)) }, env);
}

/**
 * Trusts what is there now, beside what was trusted in other folders of the repository, and answers what that is. What
 * is too large to hash stays untrusted; the answer names it.
 */
export async function trust(dir: string, env: Env): Promise<TrustState> {
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

export interface DrivenProgram {
  /** Undefined for a program that nobody knows: it may start any of them. */
  readonly family: ProgramFamily | undefined;
  /** Is it the one among the packages of the repository that is started? */
  readonly local: boolean;
}

/** Of what Rookery itself would use, and of what the agent's program would. */
export async function evaluateTrustFor(brought: RepositoryFiles, { family, local }: DrivenProgram, env: Env): Promise<TrustState> {
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

/** The worktree of a task may have what its repository was trusted with, and what it was trusted with itself. */
export async function evaluateTrust({ root, checkout, hashes, unhashable = {} }: HashedRepository, env: Env): Promise<TrustState> {
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
  return mergeProgramFiles(brought.hashes, await Promise.all(files));
}

function mergeProgramFiles(hashes: FileHashes, files: readonly ProgramFiles[]): ProgramFiles {
  return {
    hashes: Object.assign({}, hashes, ...files.map((each) => each.hashes)) as FileHashes,
    unhashable: Object.assign({}, ...files.map((each) => each.unhashable)) as TooLarge,
  };
}

/** Throws `not_trusted`, with the command to type. */
export function requireTrust(state: TrustState, dir = state.root): void {
  if (state.status !== "untrusted") return;
  const { root, files, changed, tooLarge } = state;
  if (tooLarge !== undefined) throw new RookeryError("not_trusted", formatTooLarge(root, tooLarge));
  const what = changed.length > 0 ? `${formatList(changed)} changed since` : `${formatList(files)} there was not trusted`;
  const said = changed.length > 0 ? `${root} was trusted, but ${what}` : `${root} is not trusted: ${what} yet`;
  throw new RookeryError("not_trusted", `${said}; look at it, then type: rookery trust ${quoteForShell(dir)}`);
}

/** What is too large, why, and what to do about it. */
export function formatTooLarge(root: string, tooLarge: TooLarge): string {
  const what = Object.entries(tooLarge).map(([path, why]) => `${path} (${why})`);
  const fix =
    'delete it, make it smaller or rename it, install the program outside of the repository (or name it with command = ["…"]), or start the agent in a folder below';
  return `${root} cannot be trusted: ${formatList(what)} cannot be checked, and the agent's program would take orders from it; ${fix}`;
}

const MAX_LISTED = 10;

function formatList(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${names.slice(0, MAX_LISTED).join(", ")}${more}`;
}

/** Some thousand files of some hundred repositories. */
const MAX_LEDGER_BYTES = 64 * 1024 * 1024;

async function readLedger(env: Env): Promise<Ledger> {
  const file = ledgerFile(env);
  const read = await readTextFile(file, MAX_LEDGER_BYTES);
  if (read === undefined) return { version: 1, repositories: {} };
  try {
    return Ledger.parse(JSON.parse(read.text));
  } catch (cause) {
    const message = `${file} is damaged; delete it, then trust your repositories again with rookery trust`;
    throw new RookeryError("config_invalid", message, { cause });
  }
}

/** Of two processes that trust at the same moment one may be forgotten: its user is asked again, nothing worse. */
async function writeLedger(env: Env, ledger: Ledger): Promise<void> {
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

function ledgerFile(env: Env): string {
  return join(homeFolder(env), "trust.json");
}

function quoteForShell(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
