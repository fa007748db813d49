/** `rookery` without arguments: shows the setup and what to type next. */
import { homeFolder } from "../config/home.ts";
import { type Config, loadConfig } from "../config/load.ts";
import type { CommandCall } from "./command.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { type Io, printNotice, printText } from "./io.ts";
import { messageOf } from "../domain/errors.ts";
import { toSingleLine } from "./sanitize.ts";
import { readyAgents, withReadyDefault } from "../backends/readiness.ts";

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
  await printText(io, lines.join("\n"));
  return EXIT.done;
}

const FIRST_STEPS = [
  "Try it without an API key:",
  "  rookery demo",
  "",
  "Then set a key, or log in to a program (see rookery agents), and talk:",
  "  export ANTHROPIC_API_KEY=…",
  "  rookery",
  "",
  "More: rookery agents, rookery doctor, rookery --help",
];

/** `name`: the agent to use if the default one is not ready. */
function nextSteps(name: string | undefined): string[] {
  const chosen = name === undefined ? "" : ` --agent ${name}`;
  return [
    "Talk with an agent in this directory, and continue later:",
    `  rookery${chosen}`,
    `  rookery "Fix the failing test"${chosen}`,
    "  rookery -c",
    "",
    "Send one prompt and exit, or run a task in its own git worktree:",
    `  rookery run "Explain this repository"${chosen}`,
    `  rookery task start "Add pagination"${chosen}`,
    "",
    "More: rookery agents, rookery sessions, rookery serve, rookery demo, rookery --help",
  ];
}

/** Prints configuration errors instead of failing, so that the rest is still shown. */
async function readableConfig(io: Io): Promise<Config | undefined> {
  try {
    const here = { cwd: io.cwd(), env: io.env };
    return withReadyDefault(await loadConfig({ ...here, trust: "leave_out" }), here);
  } catch (error) {
    printNotice(io, messageOf(error));
    return undefined;
  }
}
