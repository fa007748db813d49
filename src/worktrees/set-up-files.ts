/**
 * Remembers the uncommitted files that the setup of a worktree left, such as a generated file that git does not ignore.
 *
 * A file that is still as the setup left it is not work of the task: it is not committed, it does not count as a change,
 * and its removal loses nothing, because the setup can create it again. A file counts as unchanged only if its content,
 * its mode and its version in HEAD are the recorded ones, and nobody staged another one. Everything that is not recorded counts as work.
 */
import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { z } from "zod";
import { describeContent, type ContentBudget } from "./file-content.ts";
import { listGitlinks, readGitlinkCommit, type Gitlink } from "./gitlinks.ts";
import { hiddenChanges } from "./hidden-changes.ts";
import { ifAbsent } from "./if-absent.ts";
import { splitNames, type ByteName } from "./byte-names.ts";
import { toGitError } from "./failure.ts";
import { setUpFilesFile, type Worktree } from "./record.ts";
import type { Repository } from "./repository.ts";
import { STATUS_FLAGS, parseStatusEntry, type StatusEntry } from "./status-entry.ts";

/** Beyond one of these limits nothing is recorded, so that everything that the setup left counts as work. */
export const MAX_SET_UP_FILES = 1_000;
export const MAX_SET_UP_BYTES = 100 * 1024 * 1024;
/** Enough for 1,000 long paths. */
const MAX_STATUS_BYTES = 1024 * 1024;

/** Recorded instead of the version in HEAD for a change that an index flag hides from `git status`. */
const HIDDEN = "hidden";

/** A path, its version in HEAD, its version in the index, and its content in the worktree. */
const RecordedFile = z.tuple([z.string(), z.string(), z.string(), z.string()]);
const SetUpRecord = z.strictObject({ files: z.array(RecordedFile).max(MAX_SET_UP_FILES) });
type RecordedFile = z.infer<typeof RecordedFile>;

export interface UnchangedSetUpFiles {
  /** By path, as `git status` lists them. */
  readonly listed: ReadonlyMap<ByteName, StatusEntry>;
  /** Changes that the index flags `assume-unchanged` and `skip-worktree` hide from `git status`. */
  readonly hidden: ReadonlySet<ByteName>;
}

interface ReadOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Lists the files that are still as the setup left them. Runs git only if the setup left files. */
export async function listUnchangedSetUpFiles(
  worktree: Worktree,
  repository: Repository,
  { signal }: ReadOptions = {},
): Promise<UnchangedSetUpFiles> {
  const recorded = await readSetUpRecord(repository, worktree.id);
  const listed = new Map<ByteName, StatusEntry>();
  const hidden = new Set<ByteName>();
  if (recorded.length === 0) return { listed, hidden };
  const entries = new Map(
    (await readEntries(worktree, repository, undefined, signal))?.map((each) => [each.path, each]),
  );
  const read = await openContentReader(worktree, repository, signal);
  for (const [path, head, index, content] of recorded) {
    signal?.throwIfAborted();
    const entry = entries.get(path);
    if (head === HIDDEN) {
      if (entry === undefined && (await read(path, undefined, content)) === content) hidden.add(path);
    } else if (entry?.head === head && (entry.isIndexCurrent || [head, index].includes(entry.index))) {
      if ((await read(path, entry, content)) === content) listed.set(path, entry);
    }
  }
  return { listed, hidden };
}

/** True if the files were recorded. False if they exceed a limit, and nothing is recorded. */
export async function recordSetUpFiles(
  worktree: Worktree,
  repository: Repository,
  { foreign, signal }: ReadOptions & { readonly foreign: ReadonlySet<ByteName> },
): Promise<boolean> {
  const files = await readSetUpFiles(worktree, repository, foreign, signal);
  const file = setUpFilesFile(repository, worktree.id);
  if (files === undefined) await rm(file, { force: true });
  else {
    await writeFile(`${file}.new`, `${JSON.stringify({ files })}\n`);
    await rename(`${file}.new`, file);
  }
  return files !== undefined;
}

/**
 * Lists the uncommitted files that are there before a setup, except those that a failed one recorded: someone may have
 * worked there since. A setup that was stopped or killed recorded nothing, so that all files that it left are listed.
 */
export async function listForeignFiles(
  worktree: Worktree,
  repository: Repository,
  { signal }: ReadOptions = {},
): Promise<ReadonlySet<ByteName>> {
  const unchanged = await listUnchangedSetUpFiles(worktree, repository, { signal });
  const entries = (await readEntries(worktree, repository, undefined, signal)) ?? [];
  const hidden = await hiddenChanges(repository, worktree, signal);
  return new Set([
    ...entries.map(({ path }) => path).filter((path) => !unchanged.listed.has(path)),
    ...hidden.filter((path) => !unchanged.hidden.has(path)),
  ]);
}

async function readSetUpFiles(
  worktree: Worktree,
  repository: Repository,
  foreign: ReadonlySet<ByteName>,
  signal: AbortSignal | undefined,
): Promise<readonly RecordedFile[] | undefined> {
  const entries = await readEntries(worktree, repository, MAX_STATUS_BYTES, signal);
  if (entries === undefined || entries.length > MAX_SET_UP_FILES) return undefined;
  const hidden = await hiddenChanges(repository, worktree, signal);
  if (entries.length + hidden.length > MAX_SET_UP_FILES) return undefined;
  const budget: ContentBudget = { bytes: MAX_SET_UP_BYTES };
  const read = await openContentReader(worktree, repository, signal, budget);
  const files: RecordedFile[] = [];
  const add = async (path: ByteName, head: string, entry?: StatusEntry): Promise<void> => {
    signal?.throwIfAborted();
    const content = foreign.has(path) ? undefined : await read(path, entry);
    if (content !== undefined) files.push([path, head, entry?.index ?? "", content]);
  };
  for (const entry of entries) if (!entry.isUnmerged) await add(entry.path, entry.head, entry);
  for (const path of hidden) await add(path, HIDDEN);
  return budget.bytes < 0 ? undefined : files;
}

type ReadContent = (path: ByteName, entry?: StatusEntry, expected?: string) => Promise<string | undefined>;

/** For a nested repository that git tracks, the content is its commit. Other nested repositories have no content here. */
async function openContentReader(
  worktree: Worktree,
  repository: Repository,
  signal: AbortSignal | undefined,
  budget?: ContentBudget,
): Promise<ReadContent> {
  const at = { cwd: worktree.path, signal };
  let links: Promise<ReadonlyMap<ByteName, Gitlink>> | undefined;
  return async (path, entry, expected) => {
    if (entry?.isGitlink !== true) return describeContent(worktree.path, path, { expected, budget });
    links ??= listGitlinks(repository, at).then((all) => new Map(all.map((link) => [link.name, link])));
    const link = (await links).get(path);
    return link && (await readGitlinkCommit(repository, link, signal));
  };
}

/** Undefined if git prints more than `truncateAt` bytes. */
async function readEntries(
  { path }: Worktree,
  repository: Repository,
  truncateAt: number | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly StatusEntry[] | undefined> {
  const args = ["status", "--porcelain=v2", ...STATUS_FLAGS];
  const result = await repository.gitTry(args, { cwd: path, signal, truncateAt });
  if (result.truncated) return undefined;
  if (result.code !== 0) throw await toGitError(path, args, result);
  return splitNames(result.bytes).map(parseStatusEntry);
}

/** Empty if there is no valid record: all files count as work then. */
async function readSetUpRecord(repository: Repository, id: string): Promise<readonly RecordedFile[]> {
  const text = await ifAbsent(readFile(setUpFilesFile(repository, id), "utf8"), undefined);
  if (text === undefined) return [];
  try {
    return SetUpRecord.parse(JSON.parse(text)).files;
  } catch {
    return [];
  }
}
