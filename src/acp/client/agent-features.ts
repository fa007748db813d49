/** What an agent says that it can do. */
import { RookeryError } from "../../domain/errors.ts";
import type * as acp from "../schema.ts";

export type AgentFeature = "new" | "load" | "resume" | "fork" | "list" | "delete" | "close" | "additionalDirectories";

/** `{}` and `true` are yes; `null`, `false` and nothing are no. */
export function isFeatureOffered(
  { loadSession, sessionCapabilities }: acp.AgentCapabilities,
  what: AgentFeature,
): boolean {
  if (what === "new") return true;
  const said: unknown = what === "load" ? loadSession : (sessionCapabilities as Record<string, unknown> | null)?.[what];
  return said !== undefined && said !== null && said !== false;
}

/** Throws `backend_unsupported`. */
export function requireFeature(peer: string, capabilities: acp.AgentCapabilities, what: AgentFeature): void {
  if (isFeatureOffered(capabilities, what)) return;
  const missing = what === "additionalDirectories" ? "directories beside the working folder" : `session/${what}`;
  throw new RookeryError("backend_unsupported", `${peer} does not offer ${missing}`);
}
