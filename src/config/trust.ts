/** Which repositories the user trusted, by real path and by the content of what they bring. */
import { randomBytes } from "node:crypto";
import { rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { RookeryError } from "../domain/errors.ts";
import { makeFolder } from "../stdx/folder.ts";
import { type Brought, readBrought } from "./brought.ts";
import { readText } from "./files.ts";
import { type Env, homeFolder } from "./home.ts";
import type { ProgramFamily } from "./program-files.ts";

export type TrustState =
  | { readonly status: "nothing_to_trust"; readonly root: string }
  | { readonly status: "trusted"; readonly root: string; readonly files: readonly string[] }
  | {
      readonly status: "untrusted";
      readonly root: string;
      readonly files: readonly string[];
      /** Those of them that were trusted with other content, or not at all while others were. */
      readonly changed: readonly string[];
    };

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
  const brought = await readBrought(dir);
  return trustOf({ ...brought, hashes: all(brought) }, env);
}

/** Trusts what is there now, beside what was trusted in other folders of the repository, and answers what that is. */
export async function trust(dir: string, env: Env): Promise<TrustState> {
  const brought = await readBrought(dir);
  const hashes = all(brought);
  const files = Object.keys(hashes);
  if (files.length === 0) return { status: "nothing_to_trust", root: brought.root };
  const ledger = await readLedger(env);
  const { checkout } = brought;
  const entry = { at: new Date().toISOString(), files: { ...ledger.repositories[checkout]?.files, ...hashes } };
  await writeLedger(env, { ...ledger, repositories: { ...ledger.repositories, [checkout]: entry } });
  return { status: "trusted", root: brought.root, files };
}

export interface DrivenProgram {
  readonly family: ProgramFamily;
  /** Is it the one among the packages of the repository that is started? */
  readonly local: boolean;
}

/** Of what Rookery itself would use, and of what the agent's program would. */
export async function trustFor(brought: Brought, { family, local }: DrivenProgram, env: Env): Promise<TrustState> {
  const { orders, binary } = brought.programs[family];
  return trustOf({ ...brought, hashes: { ...brought.hashes, ...orders, ...(local && binary) } }, env);
}

/** The worktree of a task may have what its repository was trusted with, and what it was trusted with itself. */
export async function trustOf(
  { root, checkout, hashes }: Pick<Brought, "root" | "checkout" | "hashes">,
  env: Env,
): Promise<TrustState> {
  const files = Object.keys(hashes);
  if (files.length === 0) return { status: "nothing_to_trust", root };
  const { repositories } = await readLedger(env);
  const trusted = [root, checkout].flatMap((folder) => (repositories[folder] ? [repositories[folder].files] : []));
  if (trusted.length === 0) return { status: "untrusted", root, files, changed: [] };
  const changed = files.filter((file) => !trusted.some((known) => known[file] === hashes[file]));
  return changed.length === 0 ? { status: "trusted", root, files } : { status: "untrusted", root, files, changed };
}

function all({ hashes, programs }: Pick<Brought, "hashes" | "programs">): Record<string, string> {
  return Object.assign(
    {},
    hashes,
    ...Object.values(programs).flatMap(({ orders, binary }) => [orders, binary]),
  ) as Record<string, string>;
}

/** Throws `not_trusted`, with the command to type. */
export function requireTrust(state: TrustState, dir = state.root): void {
  if (state.status !== "untrusted") return;
  const { root, files, changed } = state;
  const what = changed.length > 0 ? `${changed.join(", ")} changed since` : `${files.join(", ")} there was not trusted`;
  const said = changed.length > 0 ? `${root} was trusted, but ${what}` : `${root} is not trusted: ${what} yet`;
  throw new RookeryError("not_trusted", `${said}; look at it, then type: rookery trust ${quoted(dir)}`);
}

async function readLedger(env: Env): Promise<Ledger> {
  const file = ledgerFile(env);
  const read = await readText(file);
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

function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
