/** `rookery init`: writes a commented `rookery.toml` for this repository. */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { readyAgents } from "../../backends/readiness.ts";
import { formatTomlValue } from "../../config/edit-toml.ts";
import { loadConfig } from "../../config/load.ts";
import { configPath, writeConfig } from "../../config/write-config.ts";
import type { CommandCall } from "../command.ts";
import { noteTrust } from "../config/config.ts";
import { EXIT, type ExitCode, usageError } from "../exit.ts";
import { print, printJson, printNotice, withCommandPrefix } from "../io.ts";
import { isSet } from "../options.ts";
import { escapeInvisible } from "../sanitize.ts";
import { suggestCopies, suggestForProject, type ProjectSuggestion } from "./project.ts";

export async function initCommand({ io, options }: CommandCall): Promise<ExitCode> {
  const location = { cwd: io.cwd(), env: io.env, scope: "repository" as const };
  const file = await configPath(location);
  if (existsSync(file) && !isSet(options, "force")) {
    throw usageError(
      `${file} exists already; change it with rookery config edit --repository, or overwrite it with --force`,
    );
  }
  const config = await loadConfig({ cwd: io.cwd(), env: io.env, trust: "leave_out" });
  const ready = readyAgents(config, { env: io.env, cwd: io.cwd() });
  const root = dirname(file);
  const text = formatInitialConfig({ ready, project: await suggestForProject(root), copies: suggestCopies(root) });
  const { needsTrust } = await writeConfig(location, text);
  if (isSet(options, "json")) await printJson(io, { file, text });
  else await print(io, withCommandPrefix(io, `wrote ${escapeInvisible(file)}:\n\n${text}`));
  noteTrust(io, needsTrust);
  if (ready.length === 0) printNotice(io, "no agent is ready yet; see what they need: rookery agents");
  return EXIT.done;
}

export interface InitialConfig {
  /** Agents that are ready, the default one first. */
  readonly ready: readonly string[];
  readonly project: ProjectSuggestion | undefined;
  readonly copies: readonly string[];
}

/** Suggestions are comments, so that the file sets only what was found. */
export function formatInitialConfig({ ready, project, copies }: InitialConfig): string {
  const [first, ...others] = ready;
  const setting = (key: string, value: string | undefined, example: string): string =>
    value === undefined ? `# ${key} = ${formatTomlValue(example)}` : `${key} = ${formatTomlValue(value)}`;
  const lines = [
    "# Configuration of Rookery for this repository.",
    "# All keys: docs/configuration.md of Rookery",
    "",
    "[defaults]",
    ...(others.length === 0 ? [] : [`# ready here too: ${others.join(", ")}`]),
    setting("agent", first, "claude"),
    "",
    "[worktree]",
    `# Runs once in each new worktree of a task.${project === undefined ? "" : ` Found: ${project.kind}.`}`,
    setting("setup", project?.setup, "npm ci"),
    "# Files that git ignores and a worktree needs.",
    copies.length === 0 ? '# copy = [".env"]' : `copy = ${formatTomlValue(copies)}`,
    "",
    "[merge]",
    "# Must pass on the merged result before a task is merged.",
    setting("gate", project?.check, "npm test"),
    "",
    "# An agent with its own instructions:",
    "# [agents.reviewer]",
    `# backend = "api"`,
    `# model = "anthropic/claude-sonnet-5"`,
    `# permissions = "read"`,
    "",
  ];
  return lines.join("\n");
}
