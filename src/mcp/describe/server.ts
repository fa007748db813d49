/** Describes a declared MCP server to people: how it is reached, its status, and what to do if it is not ready. */
import type { DeclaredServer } from "../../domain/mcp-declared.ts";
import type { McpServerSpec, McpServerState, McpSnapshot } from "../../domain/mcp.ts";
import { isEnabled } from "../config/servers.ts";
import { suggestFix } from "./fix.ts";
import { formatServerLocation } from "./location.ts";

export interface DescribedServer {
  readonly name: string;
  /** `declared`: not connected to. */
  readonly status: McpServerState["status"] | "disabled" | "declared";
  readonly source: DeclaredServer["source"];
  readonly file: string;
  /** The URL, or the command quoted for a shell. */
  readonly reached: string;
  readonly reason?: string | undefined;
  readonly fix?: string | undefined;
  /** Undefined if nobody has connected to the server. */
  readonly state?: McpServerState | undefined;
}

/** `snapshot` is undefined if nobody has connected to the servers. */
export function describeServer(
  declared: DeclaredServer,
  specs: readonly McpServerSpec[],
  snapshot: McpSnapshot | undefined,
): DescribedServer {
  const { name, source, file } = declared;
  const about = { name, source, file, reached: formatServerLocation(declared) };
  if (!isEnabled(declared)) return { ...about, status: "disabled", fix: `enabled = true for mcp.${name}` };
  const spec = specs.find((one) => one.name === name);
  if (spec?.type === "unusable") {
    return { ...about, status: "failed", reason: spec.reason, fix: suggestDeclarationFix(spec.reason) };
  }
  const state = snapshot?.servers.find((one) => one.name === name);
  if (state === undefined) return { ...about, status: "declared" };
  const { status } = state;
  const reason = state.reason ?? (status === "connecting" ? "no answer yet" : undefined);
  const fix = status === "connecting" ? undefined : suggestFix(state, about);
  return { ...about, status, ...(reason !== undefined && { reason }), ...(fix !== undefined && { fix }), state };
}

/** Suggests how to correct a declaration. */
function suggestDeclarationFix(reason: string): string {
  const [, variable] = /the environment variable (\w+) is not set/.exec(reason) ?? [];
  return variable === undefined ? "correct the declaration" : `export ${variable}=…`;
}
