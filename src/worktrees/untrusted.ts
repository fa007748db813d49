/**
 * How git runs on content that nobody trusted: the only place that decides which programs git may start.
 *
 * A repository can name programs in its configuration, and a clone can carry a whole repository among its files. Git is
 * therefore told which repository it works on (`GIT_DIR`), never looks for another one, and takes from the configuration
 * of a repository only what `PROGRAM_SETTINGS` allows.
 */
import type { Env } from "./git.ts";

/** A key and its value, as for `git -c`. */
export type GitSetting = readonly [key: string, value: string];

/**
 * - `never`: always has the given value, no matter who set it. With a `*`, under every name.
 * - `user`: only the user's own configuration (system and global) counts; else it has the given value.
 * - `driver`: as `user`, but the repository that the user works in may set it too, since a checkout without the filters
 *   of git-lfs or git-crypt would be another one. A repository within that one may not.
 * - `flag`: the commands that would run it are always given a flag against it.
 */
export type ProgramRule = "never" | "user" | "driver" | "flag";

export interface ProgramSetting {
  /** `*` stands for any name, as in `filter.*.clean`. */
  readonly key: string;
  readonly rule: ProgramRule;
  /** Default: empty. */
  readonly value?: string;
}

/** Every setting by which a repository could have git run a program, or go to another place. */
export const PROGRAM_SETTINGS: readonly ProgramSetting[] = [
  { key: "core.hooksPath", rule: "never", value: "/dev/null" },
  { key: "hook.*.command", rule: "never", value: "true" }, // since git 2.54, whatever core.hooksPath says
  { key: "core.fsmonitor", rule: "never", value: "false" },
  { key: "core.alternateRefsCommand", rule: "never", value: "true" },
  { key: "core.pager", rule: "never", value: "cat" },
  { key: "core.editor", rule: "never", value: ":" },
  { key: "sequence.editor", rule: "never", value: ":" },
  { key: "core.askPass", rule: "never", value: "false" },
  { key: "commit.gpgSign", rule: "never", value: "false" },
  { key: "log.showSignature", rule: "never", value: "false" },
  { key: "merge.verifySignatures", rule: "never", value: "false" },
  { key: "gpg.program", rule: "never", value: "false" },
  { key: "submodule.recurse", rule: "never", value: "false" },
  { key: "gc.auto", rule: "never", value: "0" },
  { key: "maintenance.auto", rule: "never", value: "false" },
  { key: "safe.bareRepository", rule: "never", value: "explicit" },
  { key: "core.sshCommand", rule: "user", value: "ssh" },
  { key: "core.gitProxy", rule: "user" },
  { key: "credential.helper", rule: "user" },
  { key: "credential.*.helper", rule: "user" },
  { key: "gpg.*.program", rule: "user", value: "false" },
  { key: "gpg.ssh.defaultKeyCommand", rule: "user" },
  { key: "remote.*.uploadpack", rule: "user", value: "git-upload-pack" },
  { key: "remote.*.receivepack", rule: "user", value: "git-receive-pack" },
  { key: "submodule.*.update", rule: "user", value: "checkout" },
  { key: "trailer.*.command", rule: "user", value: "true" },
  { key: "trailer.*.cmd", rule: "user", value: "true" },
  { key: "filter.*.clean", rule: "driver" },
  { key: "filter.*.smudge", rule: "driver" },
  { key: "filter.*.process", rule: "driver" },
  { key: "filter.*.required", rule: "driver", value: "false" },
  { key: "merge.*.driver", rule: "driver" },
  { key: "lfs.customtransfer.*.path", rule: "driver" }, // run by git-lfs, which may be the user's own filter
  { key: "lfs.extension.*.clean", rule: "driver" },
  { key: "lfs.extension.*.smudge", rule: "driver" },
  { key: "diff.external", rule: "flag" },
  { key: "diff.*.command", rule: "flag" },
  { key: "diff.*.textconv", rule: "flag" },
];

const FIXED_ARGUMENTS: readonly string[] = PROGRAM_SETTINGS.filter(
  ({ key, rule }) => rule === "never" && !key.includes("*"),
).flatMap(({ key, value = "" }) => ["-c", `${key}=${value}`]);

export interface GitPolicy {
  /** Where git keeps the repository; without it git looks in the working directory alone. */
  readonly gitDir?: string | undefined;
  readonly workTree?: string | undefined;
  /** Where the objects are, if not in the folder of the repository. */
  readonly objects?: string | undefined;
  /** Beside those that always hold. */
  readonly settings?: readonly GitSetting[] | undefined;
  /** Protocols by which git may fetch, with colons between. Default: none, nor are missing objects fetched. */
  readonly protocols?: string | undefined;
}

/** What stands before the command on git's command line. */
export function policyArguments({ settings = [] }: GitPolicy): readonly string[] {
  const own = settings.map(([key], at) => `--config-env=${key}=${settingVariable(at)}`); // a key may have = in it
  return ["--no-pager", ...FIXED_ARGUMENTS, ...own];
}

/** Added to the environment of git. */
export function policyEnvironment({ gitDir, workTree, objects, settings = [], protocols }: GitPolicy): Env {
  return {
    ...Object.fromEntries(settings.map(([, value], at) => [settingVariable(at), value])),
    ...(gitDir !== undefined && { GIT_DIR: gitDir }),
    ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
    ...(objects !== undefined && { GIT_OBJECT_DIRECTORY: objects }),
    GIT_ALLOW_PROTOCOL: protocols ?? "none",
    GIT_NO_LAZY_FETCH: protocols === undefined ? "1" : "0",
    GIT_PROTOCOL_FROM_USER: "0",
  };
}

function settingVariable(at: number): string {
  return `ROOKERY_GIT_SETTING_${at}`;
}

/** What the configuration of a repository says, as far as it matters here. */
export interface RepositoryPrograms {
  /** Take away what only the user may set. */
  readonly overrides: readonly GitSetting[];
  /** The same for drivers, for a repository that is not the one the user works in. */
  readonly driverOverrides: readonly GitSetting[];
  /** Keys of the drivers that the repository itself sets. */
  readonly drivers: readonly string[];
  /** Were objects left out when it was cloned? */
  readonly isPartial: boolean;
}

/** Prints what `parsePrograms` takes. It runs nothing that the configuration names. */
export const LIST_SETTINGS = ["config", "--list", "--show-scope", "--includes", "-z"] as const;

export function parsePrograms(listed: string): RepositoryPrograms {
  const users = new Map<string, string[]>();
  const own = new Set<string>();
  const fields = listed.split("\0");
  let isPartial = false;
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [scope, text = ""] = [fields[at], fields[at + 1]];
    const end = text.indexOf("\n");
    const [key, value] = end === -1 ? [text, "true"] : [text.slice(0, end), text.slice(end + 1)];
    if (key === "extensions.partialclone" || key.endsWith(".promisor")) isPartial = true;
    if (scope === "local" || scope === "worktree") own.add(key);
    else users.set(key, [...(users.get(key) ?? []), value]);
  }
  const overrides: GitSetting[] = [];
  const driverOverrides: GitSetting[] = [];
  for (const key of new Set([...own, ...users.keys()])) {
    const setting = PROGRAM_SETTINGS.find((known) => matchesKey(known.key, key));
    if (setting?.rule === "never" && setting.key.includes("*")) overrides.push([key, setting.value ?? ""]);
    if (!own.has(key)) continue;
    if (setting?.rule !== "user" && setting?.rule !== "driver") continue;
    const values = users.get(key) ?? [];
    // An empty helper makes git forget those before it; of all other settings the last one counts.
    const kept = key.endsWith(".helper") ? ["", ...values] : [values.at(-1) ?? setting.value ?? ""];
    (setting.rule === "user" ? overrides : driverOverrides).push(...kept.map((value): GitSetting => [key, value]));
  }
  const drivers = driverOverrides.map(([key]) => key).filter((key) => !key.endsWith(".required"));
  return { overrides, driverOverrides, drivers, isPartial };
}

/** Section and name have no upper case when git lists them; what is between them is kept as it is. */
function matchesKey(pattern: string, key: string): boolean {
  const [section = "", ...rest] = pattern.toLowerCase().split(".");
  const name = rest.at(-1) ?? "";
  if (!key.startsWith(`${section}.`) || !key.endsWith(`.${name}`)) return false;
  const between = key.slice(section.length + 1, -name.length - 1);
  const wanted = rest.slice(0, -1).join(".");
  if (wanted.endsWith(".*")) return between.toLowerCase().startsWith(wanted.slice(0, -1));
  if (wanted !== "*") return rest.length === 1 ? key === `${section}.${name}` : between.toLowerCase() === wanted;
  return key.length > section.length + name.length + 2;
}
