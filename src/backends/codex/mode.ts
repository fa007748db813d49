/** Maps modes and permission policies to Codex sandboxes and approval policies. */
import { RookeryError, type AgentSpec, type PermissionPolicy } from "../../domain/index.ts";

export const SANDBOXES = ["read-only", "workspace-write", "danger-full-access"] as const;
export type CodexSandbox = (typeof SANDBOXES)[number];

export interface CodexMode {
  readonly sandbox: CodexSandbox;
  readonly approvalPolicy: "untrusted" | "on-request" | "never";
}

/**
 * Without a mode, Codex asks before every command and edit. 0.166.0 asks even for `ls`; older versions do not ask for
 * commands they consider harmless (`ls`, `cat`, `git status`). Allowed commands still run in a sandbox that can write the
 * working directory and has no network, unless Codex asks for more. With a mode, that sandbox decides: Codex asks only to
 * leave it, and with full access it never asks. No mode allows what the session forbids: under `read` and `none` Codex
 * asks, and Rookery refuses.
 */
export function resolveCodexMode({ name, mode }: AgentSpec, permissions: PermissionPolicy): CodexMode {
  const named = parseSandbox(name, mode);
  if (permissions === "read" || permissions === "none") return { sandbox: "read-only", approvalPolicy: "untrusted" };
  if (named === undefined) return { sandbox: "workspace-write", approvalPolicy: "untrusted" };
  return { sandbox: named, approvalPolicy: named === "danger-full-access" ? "never" : "on-request" };
}

function parseSandbox(name: string, mode: string | undefined): CodexSandbox | undefined {
  if (mode === undefined) return undefined;
  const sandbox = SANDBOXES.find((each) => each === mode);
  if (sandbox === undefined) {
    const known = SANDBOXES.join(", ");
    throw new RookeryError(
      "config_invalid",
      `codex has no mode "${mode}": set mode under [agents.${name}] to one of ${known}`,
    );
  }
  return sandbox;
}
