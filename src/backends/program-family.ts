/** Identifies the known program that a command starts, by program or package name, never by a folder or argument. */
import { basename } from "node:path";
import { isBackendKind } from "../domain/enums.ts";
import type { ProgramFamily } from "../domain/program-family.ts";

/** Names of programs, packages and entries in the ACP registry. */
const FAMILIES: Readonly<Record<ProgramFamily, readonly string[]>> = {
  claude: [
    "claude",
    "claude-code",
    "claude-acp",
    "claude-code-acp",
    "claude-agent-acp",
    "@anthropic-ai/claude-code",
    "@agentclientprotocol/claude-agent-acp",
    "@zed-industries/claude-code-acp",
    "@zed-industries/claude-agent-acp",
  ],
  codex: ["codex", "codex-acp", "@openai/codex", "@agentclientprotocol/codex-acp", "@zed-industries/codex-acp"],
  gemini: ["gemini", "gemini-cli", "@google/gemini-cli"],
  opencode: ["opencode", "opencode-ai"],
};

/** Programs that start another program, which their arguments name. */
const RUNNERS = new Set(["npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "node", "deno", "uvx", "env"]);
/** Subcommands that may precede that name. */
const SUBCOMMANDS = new Set(["exec", "dlx", "x", "run"]);
const OPTIONS_WITH_VALUE = new Set(["-p", "--package", "-r", "--require", "--import", "-u"]);

export interface ProgramCommand {
  readonly command?: readonly string[] | undefined;
  /** The agent's name in the ACP registry. */
  readonly registry?: string | undefined;
}

/**
 * Returns whose program an agent is, by its backend, or by its command for backends that run any command. Used for
 * trust and for credentials, so that both follow one rule. Undefined for the built-in agent and for unknown programs.
 */
export function agentProgramFamily(agent: ProgramCommand & { readonly backend: string }): ProgramFamily | undefined {
  const { backend } = agent;
  if (!isBackendKind(backend)) return programFamilyOf(agent); // a registered backend may start any program
  switch (backend) {
    case "claude-code":
      return "claude";
    case "gemini-cli":
      return "gemini";
    case "codex":
    case "opencode":
      return backend;
    case "acp":
    case "command":
      return programFamilyOf(agent);
    case "api":
      return undefined;
  }
}

/** Returns undefined for an unknown program, which may be a wrapper around any of them. */
export function programFamilyOf({ command = [], registry = "" }: ProgramCommand): ProgramFamily | undefined {
  if (command.length === 0) return familyNamed(registry);
  const [program = "", ...args] = command;
  if (!RUNNERS.has(programName(program))) return familyNamed(programName(program));
  const started = args.find((word, index) => !isPreamble(word, args[index - 1])) ?? "";
  return familyNamed(withoutVersion(started)) ?? familyNamed(programName(started));
}

function isPreamble(word: string, before = ""): boolean {
  return /^(-|\w+=)/.test(word) || SUBCOMMANDS.has(word) || OPTIONS_WITH_VALUE.has(before);
}

function familyNamed(name: string): ProgramFamily | undefined {
  const families = Object.keys(FAMILIES) as ProgramFamily[];
  return families.find((family) => FAMILIES[family].includes(name.toLowerCase()));
}

/** `/opt/bin/codex.exe` is `codex`. */
function programName(path: string): string {
  return basename(path).replace(/\.(exe|cmd|js|mjs|cjs)$/i, "");
}

/** `@openai/codex@0.166.0` is `@openai/codex`. */
function withoutVersion(word: string): string {
  return word.replace(/(?<=.)@[^/@]*$/, "");
}
