/** What opencode asks for: by itself nearly nothing (1.18), so that it is told to, where the session does not allow all. */
import type { PermissionPolicy } from "../../domain/index.ts";

/**
 * Laid over the user's own rules, of which the last that matches counts; new keys stand last. What only looks is not
 * asked for; nor are our own tools, because they are decided here.
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
  task: "deny", // what a subagent asks never comes over ACP, and it waits for ever (1.18)
  todoread: "allow",
  todowrite: "allow",
  "rookery_*": "allow",
} as const;

/** The mode `plan` forbids edits, which a rule over it would allow again. */
const PLANNING = { ...ASKING, edit: "deny" } as const;

/** The value of `OPENCODE_PERMISSION`; undefined where the user's own rules are to hold as they are. */
export function permissionRules(permissions: PermissionPolicy, mode: string | undefined): string | undefined {
  if (permissions === "all") return undefined; // what they forbid stays forbidden
  return JSON.stringify(mode === "plan" ? PLANNING : ASKING);
}
