/** Builds the environment of Claude Code. */
import type { EnvironmentVariables } from "../../stdx/index.ts";

/** Disables automatic updates unless the user enables them. */
export function buildClaudeEnvironment(env: EnvironmentVariables): EnvironmentVariables {
  return { DISABLE_AUTOUPDATER: "1", ...env };
}
