/** What to do about a server that is not ready. */
import type { McpServerState } from "../../domain/mcp.ts";

export interface ServerLocation {
  readonly name: string;
  readonly file: string;
  /** Its url, or its command as a shell takes it. */
  readonly reached: string;
}

/** What the connection itself says, or else where to look. */
export function suggestFix(
  { status, reason = "", fix }: McpServerState,
  { name, file, reached }: ServerLocation,
): string | undefined {
  if (fix !== undefined) return fix.replaceAll("`", "");
  if (status === "ready") return undefined;
  const look = /^https?:/.test(reached)
    ? `see that it is up, and its url at ${name} in ${file}`
    : `see by hand what it says: ${reached}`;
  return reason.startsWith("it did not answer within")
    ? `${look}; one that is slow gets longer with connect_timeout = SECONDS`
    : look;
}
