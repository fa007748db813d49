/** Lists what the files of a repository would run if they were trusted, for the person who decides. */
import { join } from "node:path";
import type { McpServerTable } from "../domain/mcp-declared.ts";
import { readTextFile } from "./files.ts";
import { readRepositoryFiles } from "./repository-files.ts";
import type { ConfigTable } from "./schema.ts";

export interface TrustedAction {
  /** Where it is configured, such as `rookery.toml worktree.setup`. */
  readonly where: string;
  /** The command line, or the address of a server. Untrusted text. */
  readonly what: string;
}

/** Runs nothing. `dir` is any directory of the repository. Rejects with `config_invalid`. */
export async function listTrustedActions(dir: string): Promise<readonly TrustedAction[]> {
  const { checkout, config, servers } = await readRepositoryFiles(dir);
  const entries = Array.from(servers.values(), ({ name, entry }) => action(`.mcp.json ${name}`, describeEntry(entry)));
  const hooks = await Promise.all(HOOK_FILES.map((path) => readHooks(join(checkout, path), path)));
  return [...(config === undefined ? [] : listConfigured(config.table)), ...entries, ...hooks.flat()].filter(
    ({ what }) => what !== "",
  );
}

function listConfigured({ agents = {}, mcp = {}, worktree = {}, merge = {}, pipelines = {} }: ConfigTable) {
  return [
    action("worktree.setup", worktree.setup),
    action("merge.gate", merge.gate),
    ...Object.entries(agents).flatMap(([name, { command, resume_command: resume }]) => [
      action(`agents.${name}.command`, command?.join(" ")),
      action(`agents.${name}.resume_command`, resume?.join(" ")),
    ]),
    ...Object.entries(mcp).map(([name, table]) => action(`mcp.${name}`, describeServer(table))),
    ...Object.entries(pipelines).flatMap(([name, { stages }]) =>
      stages.map(({ run, gate }) => action(`pipelines.${name}`, run ?? gate)),
    ),
  ];
}

function describeServer({ command, url }: McpServerTable): string | undefined {
  return command?.join(" ") ?? url;
}

/** The entry is not validated yet. */
function describeEntry({ command, args, url }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof command !== "string") return typeof url === "string" ? url : undefined;
  return [command, ...(Array.isArray(args) ? args.map(String) : [])].join(" ");
}

/** Files in which programs find hooks: Claude Code 2.1.325, Codex 0.166.0, Gemini CLI 0.61.0. */
const HOOK_FILES = [
  ".claude/settings.json",
  ".claude/settings.local.json",
  ".codex/hooks.json",
  ".gemini/settings.json",
];
const MAX_DEPTH = 6;

/** Finds every `command` under `hooks`. An unreadable file lists nothing; its name is shown with the question. */
async function readHooks(file: string, path: string): Promise<TrustedAction[]> {
  const read = await readTextFile(file).catch(() => undefined);
  if (read === undefined) return [];
  try {
    const { hooks = {} } = JSON.parse(read.text) as { hooks?: Record<string, unknown> };
    return Object.entries(hooks).flatMap(([event, value]) =>
      findCommands(value, MAX_DEPTH).map((command) => action(`${path} hook ${event}`, command)),
    );
  } catch {
    return [];
  }
}

function findCommands(value: unknown, depth: number): string[] {
  if (typeof value !== "object" || value === null || depth === 0) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "command" && typeof inner === "string" ? [inner] : findCommands(inner, depth - 1),
  );
}

function action(where: string, what = ""): TrustedAction {
  return { where, what };
}
