/** Permission rules for opencode. On its own it asks for almost nothing (1.18), so Rookery sets rules unless all is allowed. */
import type { PermissionPolicy } from "../../domain/index.ts";

/**
 * Merged over the user's rules. The last matching rule wins, and new keys come last. Reading needs no permission, nor do
 * Rookery's own tools, which Rookery decides about itself.
 */
const ASKING = {
  "*": "ask",
  bash: "ask",
  edit: "ask",
  webfetch: "ask",
  websearch: "ask",
  codesearch: "ask",
  external_directory: "ask",
  read: { "*": "allow", "*.env": "ask", "*.env.*": "ask", "*.env.example": "allow" },
  glob: "allow",
  grep: "allow",
  list: "allow",
  lsp: "allow",
  skill: "allow",
  task: "deny", // a subagent's request never arrives over ACP, so it would wait forever (1.18)
  todoread: "allow",
  todowrite: "allow",
  "rookery_*": "allow",
} as const;

/** Mode `plan` forbids edits; a rule that asks would allow them again. */
const PLANNING = { ...ASKING, edit: "deny" } as const;

/** Returns the value of `OPENCODE_PERMISSION`, or undefined to leave the user's rules unchanged. */
export function permissionRules(permissions: PermissionPolicy, mode: string | undefined): string | undefined {
  if (permissions === "all") return undefined; // the user's own denials still apply
  return JSON.stringify(mode === "plan" ? PLANNING : ASKING);
}
