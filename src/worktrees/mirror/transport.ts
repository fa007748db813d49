/**
 * Fetches from a remote and pushes to it. All network traffic of git with remotes goes through this module.
 *
 * It runs in the bare mirror, whose configuration is written again before each command. Neither the repository nor an agent
 * in a worktree can therefore redirect the traffic or name a program. Credentials come from the git configuration of the
 * user: credential helpers, ssh and its agent.
 */
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { RookeryError } from "../../domain/index.ts";
import { deadline } from "../../stdx/index.ts";
import { findLockFile, isDiskFull, toGitError } from "../failure.ts";
import { git, gitTry, type GitOptions } from "../git.ts";
import type { GitResult } from "../git-result.ts";
import { LIST_SETTINGS, parsePrograms, type GitPolicy } from "../untrusted.ts";
import { REMOTE_PROTOCOLS, redactUrls } from "./remote-url.ts";

/** A bare mirror and the remote that it mirrors. */
export interface GitTransport {
  readonly url: string;
  /** The git folder of the mirror. */
  readonly gitDir: string;
  /** The object folder of the repository whose commits are pushed. */
  readonly objects: string;
  readonly options: GitOptions;
}

export interface NetworkOptions {
  /** Time limit in milliseconds. Default: 2 minutes. */
  readonly timeoutMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 2 * 60_000;
/** Added to the deadline of `gitTry`, which then applies only to a git that ignores the abort signal. */
const GRACE_MS = 10_000;

const MIRROR_CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";

/**
 * Overrides settings of the user that would change what fetch and push do. A server that sends nothing for a minute
 * counts as unreachable.
 */
const NETWORK_SETTINGS: GitPolicy["settings"] = [
  ["http.lowSpeedLimit", "1"],
  ["http.lowSpeedTime", "60"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["push.followTags", "false"],
];

/** A file `commondir` in the mirror does not count: an agent may have written it. */
export function mirrorPlace(gitDir: string): Pick<GitPolicy, "gitDir" | "commonDir"> {
  return { gitDir, commonDir: gitDir };
}

/** Creates an empty mirror. */
export async function initMirror(gitDir: string, options: GitOptions): Promise<void> {
  await mkdir(gitDir, { recursive: true });
  await git(gitDir, ["init", "--quiet", "--bare", "--template="], options, { gitDir });
}

export interface FetchOptions {
  /** Deletes refs of the mirror that the remote does not have. Default: false. */
  readonly prune?: boolean | undefined;
  /** Where to put the objects. Default: into the mirror. */
  readonly objects?: string | undefined;
}

/**
 * Updates the refs of the mirror that the refspecs name. Rejects with `remote_unreachable`; with `git_failed` if the mirror is
 * corrupt or has a ref in the way; or with `repository_locked` if a ref of the mirror is locked.
 */
export async function fetchRefs(
  transport: GitTransport,
  refspecs: readonly string[],
  { prune = false, objects, ...options }: NetworkOptions & FetchOptions = {},
): Promise<void> {
  const flags = ["--quiet", "--no-tags", "--force", "--no-write-fetch-head", ...(prune ? ["--prune"] : [])];
  const args = ["fetch", ...flags, "--", transport.url, ...refspecs];
  const result = await runOnNetwork(transport, args, options, { objects });
  if (result.code !== 0) throw await toTransportError(transport, args, result);
}

/** Returns refs of the remote and their commits, without fetching. Rejects with `remote_unreachable`. */
export async function listRemoteRefs(
  transport: GitTransport,
  refs: readonly string[],
  options: NetworkOptions = {},
): Promise<ReadonlyMap<string, string>> {
  const args = ["ls-remote", "--quiet", "--symref", "--", transport.url, ...refs];
  const result = await runOnNetwork(transport, args, options);
  if (result.code !== 0) throw await toTransportError(transport, args, result);
  const lines = result.stdout.split("\n").filter((line) => line.includes("\t"));
  return new Map(
    lines.map((line) => {
      const [value = "", ref = ""] = line.split("\t");
      return value.startsWith("ref: ") ? [`symref ${ref}`, value.slice("ref: ".length)] : [ref, value];
    }),
  );
}

export interface RefUpdate {
  readonly ref: string;
  /** The new commit. Undefined: delete the ref. */
  readonly to: string | undefined;
  /** The commit that the ref must have on the remote. Undefined: the ref must not exist. */
  readonly expected: string | undefined;
}

/**
 * Updates one ref of the remote if it has the expected commit there, with `--force-with-lease`. Returns `moved`, without a
 * change, if it has another one. Rejects with `remote_unreachable`, after which the ref may have been updated, or with
 * `remote_refused` if the remote does not allow the update.
 */
export async function pushRef(
  transport: GitTransport,
  { ref, to = "", expected = "" }: RefUpdate,
  options: NetworkOptions = {},
): Promise<"pushed" | "moved"> {
  const flags = ["--porcelain", "--no-verify", "--no-signed", "--no-thin", `--force-with-lease=${ref}:${expected}`];
  const args = ["push", ...flags, "--", transport.url, `${to}:${ref}`];
  const result = await runOnNetwork(transport, args, options, { alternates: transport.objects });
  const line = result.stdout.split("\n").find((each) => /^[ +\-*=!]\t/.test(each) && each.includes(`:${ref}\t`));
  if (result.code === 0) return "pushed";
  if (line?.startsWith("!") !== true) throw await toTransportError(transport, args, result);
  const [, reason = ""] = /\t[^\t]*\t(.*)$/.exec(line) ?? [];
  if (!reason.startsWith("[remote")) return "moved";
  if (/\((?:failed to update ref|cannot lock ref|incorrect old value|reference already exists)/.test(reason)) {
    return "moved"; // another push was faster
  }
  if (/remote failure|unpacker error/.test(reason))
    throw unreachable(transport, `${reason} ${lastLine(result.stderr)}`);
  throw new RookeryError(
    "remote_refused",
    `the remote ${transport.url} refused to update ${ref}: ${redactUrls([reason, ...remoteLines(result.stderr)].join("; "))}`,
  );
}

async function runOnNetwork(
  { gitDir, options }: GitTransport,
  args: readonly string[],
  { timeoutMs = TIMEOUT_MS, signal }: NetworkOptions,
  more: Pick<GitPolicy, "alternates" | "objects"> = {},
): Promise<GitResult> {
  await writeMirrorConfig(gitDir);
  const place = mirrorPlace(gitDir);
  const { overrides } = parsePrograms(`${await git(gitDir, LIST_SETTINGS, options, place)}\n`);
  using limit = deadline(timeoutMs, ...(signal === undefined ? [] : [signal]));
  const policy: GitPolicy = {
    ...place,
    ...more,
    protocols: REMOTE_PROTOCOLS,
    settings: [...overrides, ...(NETWORK_SETTINGS ?? [])],
  };
  try {
    return await gitTry(gitDir, args, { ...options, deadlineMs: timeoutMs + GRACE_MS, signal: limit.signal }, policy);
  } catch (error) {
    if (!limit.isLate || signal?.aborted === true) throw error;
    const stderr = `fatal: no answer within ${Math.ceil(timeoutMs / 1000)} seconds`;
    return { code: 128, stdout: "", bytes: Buffer.alloc(0), stderr, truncated: false };
  }
}

async function writeMirrorConfig(gitDir: string): Promise<void> {
  const file = join(gitDir, "config");
  if ((await readFile(file, "utf8").catch(() => undefined)) === MIRROR_CONFIG) return;
  await writeFile(`${file}.new`, MIRROR_CONFIG);
  await rename(`${file}.new`, file);
}

/** What git prints about damaged objects and packs of a repository on this disk. */
const DAMAGE =
  /(?:object|pack|index) .*(?:corrupt|is empty|far too short)|bad (?:tree |loose )?object|(?:missing|invalid) (?:object|blob|tree|commit)|unable to (?:unpack|parse object|read (?:tree|sha1|[0-9a-f]{40}))|inflate: data stream error|packfile .* (?:cannot be accessed|index unavailable|does not match index)/i;

/** True if git's message means that the objects of a repository on this disk are damaged. */
export function isCorruptionMessage(text: string): boolean {
  // Cut, because the expression takes quadratic time for a line that a remote may have written.
  return text.split("\n").some((line) => DAMAGE.test(line.slice(0, MAX_DAMAGE_LINE)));
}

const MAX_DAMAGE_LINE = 1_000;

/** What git prints if it cannot update a ref on this disk: another ref or a lock file is in the way. */
const LOCAL_REF_FAILURE = /some local refs could not be updated|cannot lock ref/;

async function toTransportError(
  transport: GitTransport,
  args: readonly string[],
  result: GitResult,
): Promise<RookeryError> {
  const { stderr } = result;
  if (/couldn't find remote ref/.test(stderr)) {
    return new RookeryError("base_not_found", `${transport.url} has no such branch: ${lastLine(stderr)}`);
  }
  const isOfRemote = /remote: |remote error: /.test(stderr);
  const isLocal =
    isDiskFull(stderr) ||
    (!isOfRemote &&
      (isCorruptionMessage(stderr) || LOCAL_REF_FAILURE.test(stderr) || findLockFile(stderr) !== undefined));
  if (!isLocal) return unreachable(transport, lastLine(stderr));
  const error = await toGitError(transport.gitDir, args, result);
  return new RookeryError(error.code, redactUrls(error.message));
}

function unreachable({ url }: GitTransport, reason: string): RookeryError {
  return new RookeryError(
    "remote_unreachable",
    `git remote unreachable: ${url}: ${redactUrls(reason) || "git gave no reason"}; check the network, the URL and your ` +
      `git credentials: git ls-remote ${url}`,
  );
}

const MAX_REASON_LENGTH = 500;

function lastLine(stderr: string): string {
  const lines = stderr.split(/[\r\n]+/).filter((line) => line.trim() !== "" && !line.startsWith("hint:"));
  const line = lines.find((each) => /^(?:fatal|error|ssh):/.test(each)) ?? lines.at(-1) ?? "";
  return line
    .replace(/^(?:fatal|error): /, "")
    .slice(0, MAX_REASON_LENGTH)
    .toWellFormed();
}

/** The lines that the remote printed, such as those of a hook that refused the update. */
function remoteLines(stderr: string): readonly string[] {
  const lines = stderr.split(/[\r\n]+/).filter((line) => line.startsWith("remote: "));
  return lines.slice(0, 5).map((line) => line.slice("remote: ".length, MAX_REASON_LENGTH).trim().toWellFormed());
}
