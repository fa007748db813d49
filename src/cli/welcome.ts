/** What a bare `rookery` says: where one is, and what to type next. */
import { homeFolder } from "../config/home.ts";
import { type Config, loadConfig } from "../config/load.ts";
import type { CommandCall } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { withCommandPrefix, type Io, print, printNotice } from "./io.ts";
import { messageOf } from "../domain/errors.ts";
import { toSingleLine } from "./sanitize.ts";
import { readyAgents } from "./readiness.ts";

export async function welcomeCommand({ io }: CommandCall): Promise<ExitCode> {
  const config = await readableConfig(io);
  const names = config === undefined ? [] : readyAgents(config, { env: io.env, cwd: io.cwd() });
  const lines = [
    `Rookery ${io.version}: one durable runtime for every coding agent.`,
    "",
    `  log      ${toSingleLine(homeFolder(io.env))}`,
    `  agents   ${names.length === 0 ? "none is ready" : `${names.join(", ")} (rookery agents)`}`,
    "",
    ...(names.length === 0 ? FIRST_STEPS : nextSteps(names[0] === config?.defaults.agent ? undefined : names[0])),
    "",
  ];
  await print(io, withCommandPrefix(io, lines.join("\n")));
  return EXIT.done;
}

const FIRST_STEPS = [
  "See it work, without any key:",
  "  rookery demo",
  "",
  "Add a real agent: a key, or a program that is logged in (rookery agents says how):",
  "  export ANTHROPIC_API_KEY=…",
  '  rookery run "Explain this repository"',
  "",
  "More: rookery agents, rookery doctor, rookery --help",
];

/** The one to name where the default is not ready. */
function nextSteps(name: string | undefined): string[] {
  return [
    "Give it something to do:",
    `  rookery run "Explain this repository"${name === undefined ? "" : ` --agent ${name}`}`,
    "",
    "Or in a git worktree of its own, beside others:",
    `  rookery task start "Fix the failing test"${name === undefined ? "" : ` --agent ${name}`}`,
    "",
    "More: rookery serve, rookery sessions, rookery demo, rookery doctor, rookery --help",
  ];
}

/** A mistake in a file is told, and does not hide the rest. */
async function readableConfig(io: Io): Promise<Config | undefined> {
  try {
    return await loadConfig({ cwd: io.cwd(), env: io.env, trust: "leave_out" });
  } catch (error) {
    printNotice(io, messageOf(error));
    return undefined;
  }
}
