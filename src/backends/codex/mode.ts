/** How free Codex is: by asking for everything, or within one of its own sandboxes. */
import { RookeryError, type AgentSpec, type PermissionPolicy } from "../../domain/index.ts";

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
 * sandbox: within it nothing is asked for, and what is to leave it is; with full access there is nothing to ask. No mode
 * allows what the session forbids: it is asked for then, and refused here.
 */
export function modeOf({ name, mode }: AgentSpec, permissions: PermissionPolicy): Mode {
  const named = sandboxOf(name, mode);
  if (permissions === "read" || permissions === "none") return { sandbox: "read-only", approvalPolicy: "untrusted" };
  if (named === undefined) return { sandbox: "workspace-write", approvalPolicy: "untrusted" };
  return { sandbox: named, approvalPolicy: named === "danger-full-access" ? "never" : "on-request" };
}

function sandboxOf(name: string, mode: string | undefined): Sandbox | undefined {
  if (mode === undefined) return undefined;
  const sandbox = SANDBOXES.find((each) => each === mode);
  if (sandbox === undefined) {
    const known = SANDBOXES.join(", ");
    throw new RookeryError(
      "config_invalid",
      `${mode} is no mode of codex: set mode under [agents.${name}] to one of ${known}`,
    );
  }
  return sandbox;
}
