/**
 * The environment of the bridge program: it gets the address of the real server in a variable, because command lines
 * are visible to other users.
 */
import { findPackageFile } from "../../stdx/package-file.ts";
import { z } from "zod";
import type { RemoteDeclaration, StdioDeclaration } from "./declaration.ts";

export const BRIDGE_VARIABLE = "ROOKERY_MCP_BRIDGE";

const BridgeTarget = z.object({
  type: z.enum(["http", "sse"]),
  url: z.url({ protocol: /^https?$/ }),
  headers: z.array(z.object({ name: z.string(), value: z.string() })),
});
export type BridgeTarget = z.infer<typeof BridgeTarget>;

/** Declares a remote server for an agent that only starts programs. */
export function toBridgedDeclaration(declaration: RemoteDeclaration, command: readonly string[]): StdioDeclaration {
  const { type, name, url, headers, _meta } = declaration;
  const [program = process.execPath, ...args] = command;
  const target: BridgeTarget = { type, url, headers: (headers ?? []).map(({ name, value }) => ({ name, value })) };
  const env = [{ name: BRIDGE_VARIABLE, value: JSON.stringify(target) }];
  return { name, command: program, args, env, ...(_meta !== undefined && { _meta }) };
}

/** Throws if the variable is missing or invalid. The error does not contain its value, which has a token in it. */
export function readBridgeTarget(env: Readonly<Record<string, string | undefined>>): BridgeTarget {
  const text = env[BRIDGE_VARIABLE];
  if (text === undefined) throw new Error(`${BRIDGE_VARIABLE} is not set; this program is started by an agent`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${BRIDGE_VARIABLE} is not JSON`);
  }
  const { success, data, error } = BridgeTarget.safeParse(value);
  if (success) return data;
  throw new Error(
    `${BRIDGE_VARIABLE}: ${error.issues[0]?.path.join(".") ?? ""}: ${error.issues[0]?.message ?? "invalid"}`,
  );
}

/** The command of the bridge program in the built package. */
export function bridgeCommand(): readonly string[] {
  const program = findPackageFile("acp/mcp-bridge.js");
  if (program !== undefined) return [process.execPath, program];
  throw new Error("the bridge program (acp/mcp-bridge.js) was not found; set its command with `bridge`");
}
