/** Builds the environment of Claude Code. */
import type { EnvironmentVariables } from "../../stdx/index.ts";

/** Variables of an outer Claude Code that runs Rookery. An inner one would consider itself part of it (2.1.325). */
const OUTER_VARIABLES = [
  "CLAUDECODE",
  "CLAUDE_PID",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_SESSION_ATTENDED",
  "CLAUDE_CODE_SSE_PORT",
];

/** Disables automatic updates unless the user enables them. */
export function buildClaudeEnvironment(env: EnvironmentVariables): EnvironmentVariables {
  const kept = Object.entries(env).filter(([name]) => !OUTER_VARIABLES.includes(name));
  return { DISABLE_AUTOUPDATER: "1", ...Object.fromEntries(kept) };
}
