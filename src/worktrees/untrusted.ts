/**
 * Policy for running git on untrusted content. Only this module decides which programs git may start.
 *
 * The configuration of a repository can name programs, and the files of a checkout can contain another repository.
 * Therefore git always gets its repository in `GIT_DIR`, never searches for one, and uses only those settings of a
 * repository that `PROGRAM_SETTINGS` allows.
 */
import type { EnvironmentVariables } from "../stdx/index.ts";

/** A key and its value, as for `git -c`. */
export type GitSetting = readonly [key: string, value: string];

/**
 * Who may set a setting:
 *
 * - `never`: nobody. It always has `value`. A `*` in the key matches every name.
 * - `user`: only the user's system and global configuration. Otherwise it has `value`.
 * - `driver`: also the repository that the user works in, because a checkout without the filters of git-lfs or git-crypt
 *   would have different files. A nested repository may not set it.
 * - `flag`: the commands that would use it always get a flag that disables it.
 */
export type ProgramRule = "never" | "user" | "driver" | "flag";

export interface ProgramSetting {
  /** `*` matches any name, as in `filter.*.clean`. */
  readonly key: string;
  readonly rule: ProgramRule;
  /** Default: empty. */
  readonly value?: string;
}

/** Every setting with which a repository can make git run a program or contact another host. */
export const PROGRAM_SETTINGS: readonly ProgramSetting[] = [
  { key: "core.hooksPath", rule: "never", value: "/dev/null" },
  { key: "hook.*.command", rule: "never", value: "true" }, // since git 2.54, independent of core.hooksPath
  { key: "core.fsmonitor", rule: "never", value: "false" },
  { key: "core.alternateRefsCommand", rule: "never", value: "true" },
  { key: "core.pager", rule: "never", value: "cat" },
  { key: "core.editor", rule: "never", value: ":" },
  { key: "sequence.editor", rule: "never", value: ":" },
  { key: "core.askPass", rule: "never", value: "false" },
  { key: "commit.gpgSign", rule: "never", value: "false" },
  { key: "push.gpgSign", rule: "never", value: "false" },
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
  { key: "remote.*.vcs", rule: "user" },
  { key: "submodule.*.update", rule: "user", value: "checkout" },
  { key: "trailer.*.command", rule: "user", value: "true" },
  { key: "trailer.*.cmd", rule: "user", value: "true" },
  { key: "filter.*.clean", rule: "driver" },
  { key: "filter.*.smudge", rule: "driver" },
  { key: "filter.*.process", rule: "driver" },
  { key: "filter.*.required", rule: "driver", value: "false" },
  { key: "merge.*.driver", rule: "driver" },
  { key: "lfs.customtransfer.*.path", rule: "driver" }, // git-lfs runs it, and git-lfs may be the user's own filter
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
  /** Git folder of the repository. Default: git looks only in the working directory. */
  readonly gitDir?: string | undefined;
  /** Folder with the configuration. Default: the one that a file `commondir` of the git folder names, or the git folder. */
  readonly commonDir?: string | undefined;
  readonly workTree?: string | undefined;
  /** Object folder. Default: that of the repository. */
  readonly objects?: string | undefined;
  /** Another object folder to read from. Default: none. */
  readonly alternates?: string | undefined;
  /** Settings in addition to the fixed ones. */
  readonly settings?: readonly GitSetting[] | undefined;
  /** Protocols that git may fetch and push with, separated by colons. Default: none, and git fetches no missing objects. */
  readonly protocols?: string | undefined;
}

/** Returns the arguments that go before the git subcommand. */
export function policyArguments({ settings = [] }: GitPolicy): readonly string[] {
  const own = settings.map(([key], at) => `--config-env=${key}=${settingVariable(at)}`); // a key may contain `=`
  return ["--no-pager", ...FIXED_ARGUMENTS, ...own];
}

/** Returns the variables to add to git's environment. */
export function policyEnvironment({
  gitDir,
  commonDir,
  workTree,
  objects,
  alternates,
  settings = [],
  protocols,
}: GitPolicy): EnvironmentVariables {
  return {
    ...Object.fromEntries(settings.map(([, value], at) => [settingVariable(at), value])),
    ...(gitDir !== undefined && { GIT_DIR: gitDir }),
    ...(commonDir !== undefined && { GIT_COMMON_DIR: commonDir }),
    ...(workTree !== undefined && { GIT_WORK_TREE: workTree }),
    ...(objects !== undefined && { GIT_OBJECT_DIRECTORY: objects }),
    ...(alternates !== undefined && { GIT_ALTERNATE_OBJECT_DIRECTORIES: alternates }),
    GIT_ALLOW_PROTOCOL: protocols ?? "none",
    GIT_NO_LAZY_FETCH: protocols === undefined ? "1" : "0",
    GIT_PROTOCOL_FROM_USER: "0",
  };
}

function settingVariable(at: number): string {
  return `ROOKERY_GIT_SETTING_${at}`;
}

/** The settings of a repository that name programs. */
export interface RepositoryPrograms {
  /** Override the settings that only the user may set. */
  readonly overrides: readonly GitSetting[];
  /** Override drivers too, for a repository other than the one the user works in. */
  readonly driverOverrides: readonly GitSetting[];
  /** Keys of the drivers that the repository sets. */
  readonly drivers: readonly string[];
  /** True for a partial clone. */
  readonly isPartial: boolean;
}

/** Prints the input of `parsePrograms`. Runs no program that the configuration names. */
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
    // An empty helper clears the helpers before it. For all other settings, the last value counts.
    const kept = key.endsWith(".helper") ? ["", ...values] : [values.at(-1) ?? setting.value ?? ""];
    (setting.rule === "user" ? overrides : driverOverrides).push(...kept.map((value): GitSetting => [key, value]));
  }
  const drivers = driverOverrides.map(([key]) => key).filter((key) => !key.endsWith(".required"));
  return { overrides, driverOverrides, drivers, isPartial };
}

/** Git lists section and name in lowercase and keeps the case of the subsection between them. */
function matchesKey(pattern: string, key: string): boolean {
  const [section = "", ...rest] = pattern.toLowerCase().split(".");
  const name = rest.at(-1) ?? "";
  if (!key.startsWith(`${section}.`) || !key.endsWith(`.${name}`)) return false;
  const between = key.slice(section.length + 1, -name.length - 1);
  const subsection = rest.slice(0, -1).join(".");
  if (subsection.endsWith(".*")) return between.toLowerCase().startsWith(subsection.slice(0, -1));
  if (subsection !== "*")
    return rest.length === 1 ? key === `${section}.${name}` : between.toLowerCase() === subsection;
  return key.length > section.length + name.length + 2;
}
