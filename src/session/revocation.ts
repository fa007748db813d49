/** The event that revokes a permission which a person gave for the rest of a session. */
import { normalizePrefix } from "../domain/command-prefix.ts";
import type { EventBody, SessionState } from "../domain/index.ts";

/** Undefined if nothing of it is allowed. `prefix`: only this prefix. Default: everything of the tool. */
export function toRevocation(
  { grants, commandGrants }: Pick<SessionState, "grants" | "commandGrants">,
  tool: string,
  prefix: string | undefined,
): EventBody | undefined {
  const ofTool = commandGrants.filter((grant) => grant.tool === tool);
  if (prefix === undefined)
    return grants.includes(tool) || ofTool.length > 0 ? { type: "permission.revoked", tool } : undefined;
  const wanted = normalizePrefix(prefix);
  const isGranted = ofTool.some((grant) => grant.prefix === wanted);
  return isGranted ? { type: "permission.revoked", tool, prefix: wanted } : undefined;
}
