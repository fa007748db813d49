/** Suggests how to fix a server that is not ready. */
import type { McpServerState } from "../../domain/mcp.ts";

export interface ServerLocation {
  readonly name: string;
  readonly file: string;
  /** The URL, or the command quoted for a shell. */
  readonly reached: string;
}

/** Returns the fix of the connection, or where to look. Undefined for a ready server. */
export function suggestFix(
  { status, reason = "", fix }: McpServerState,
  { name, file, reached }: ServerLocation,
): string | undefined {
  if (fix !== undefined) return fix.replaceAll("`", "");
  if (status === "ready") return undefined;
  const look = /^https?:/.test(reached)
    ? `check that it is running, and the url of ${name} in ${file}`
    : `run it by hand to see its output: ${reached}`;
  return reason.startsWith("it did not answer within")
    ? `${look}; for a slow server, set connect_timeout = SECONDS`
    : look;
}
