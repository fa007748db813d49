/** The optional features that an agent advertises. */
import { RookeryError } from "../../domain/errors.ts";
import type * as acp from "../schema.ts";

export type AgentFeature = "new" | "load" | "resume" | "fork" | "list" | "delete" | "close" | "additionalDirectories";

/** `{}` and `true` mean yes; `null`, `false` and a missing field mean no. */
export function isFeatureOffered(
  { loadSession, sessionCapabilities }: acp.AgentCapabilities,
  what: AgentFeature,
): boolean {
  if (what === "new") return true;
  const advertised: unknown =
    what === "load" ? loadSession : (sessionCapabilities as Record<string, unknown> | null)?.[what];
  return advertised !== undefined && advertised !== null && advertised !== false;
}

/** Throws `backend_unsupported` if the agent does not offer the feature. */
export function requireFeature(peer: string, capabilities: acp.AgentCapabilities, what: AgentFeature): void {
  if (isFeatureOffered(capabilities, what)) return;
  const missing = what === "additionalDirectories" ? "additional directories" : `session/${what}`;
  throw new RookeryError("backend_unsupported", `${peer} does not offer ${missing}`);
}
