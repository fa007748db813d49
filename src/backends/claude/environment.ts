/** What Claude Code gets of the environment. */
import type { EnvironmentVariables } from "../../stdx/index.ts";

/** Of the Claude Code that Rookery itself may run in: another that finds them takes itself for a part of it (2.1.325). */
const OUTER = [
  "CLAUDECODE",
  "CLAUDE_PID",
  "CLAUDE_CODE_ENTRYPOINT",
  "CLAUDE_CODE_SESSION_ID",
  "CLAUDE_CODE_CHILD_SESSION",
  "CLAUDE_CODE_SESSION_ATTENDED",
  "CLAUDE_CODE_SSE_PORT",
];

/** It does not replace itself while it is driven, unless the user wants that. */
export function ownEnvironment(env: EnvironmentVariables): EnvironmentVariables {
  const kept = Object.entries(env).filter(([name]) => !OUTER.includes(name));
  return { DISABLE_AUTOUPDATER: "1", ...Object.fromEntries(kept) };
}
