/** How free Codex is: by asking for everything, or within one of its own sandboxes. */
import { RookeryError, type AgentSpec } from "../../domain/index.ts";

export const SANDBOXES = ["read-only", "workspace-write", "danger-full-access"] as const;
export type Sandbox = (typeof SANDBOXES)[number];

export interface Mode {
  readonly sandbox: Sandbox;
  readonly approvalPolicy: "untrusted" | "on-request" | "never";
}

/**
 * Where nothing is said, it asks before every command and every edit: 0.166.0 does so even for `ls`, older versions run
 * without asking what they know to be harmless (`ls`, `cat`, `git status`). What was allowed still runs in a sandbox that
 * can write the folder and has no network, unless it is asked for more. A mode that is named leaves the decisions to that
 * sandbox: within it nothing is asked for, and what is to leave it is; with full access there is nothing to ask.
 */
export function modeOf({ name, mode }: AgentSpec): Mode {
  if (mode === undefined) return { sandbox: "workspace-write", approvalPolicy: "untrusted" };
  const sandbox = SANDBOXES.find((each) => each === mode);
  if (sandbox === undefined) {
    const known = SANDBOXES.join(", ");
    throw new RookeryError(
      "config_invalid",
      `${mode} is no mode of codex: set mode under [agents.${name}] to one of ${known}`,
    );
  }
  return { sandbox, approvalPolicy: sandbox === "danger-full-access" ? "never" : "on-request" };
}
