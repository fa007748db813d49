/** Converts MCP server declarations between ACP and Rookery's own form. */
import type { McpServerSpec, RemoteServerSpec } from "../../domain/mcp.ts";
import {
  isRemote,
  type InProcessServer,
  type McpDeclaration,
  type RemoteDeclaration,
  type StdioDeclaration,
} from "./declaration.ts";

/** An unknown declaration is kept as it is, because the agent may understand it. */
export function specOfDeclaration(declaration: McpDeclaration): McpServerSpec {
  const name = getDeclaredName(declaration);
  if (isRemote(declaration)) {
    const { type, url, headers } = declaration;
    return { type, name, url, headers: toRecord(headers), asDeclared: declaration };
  }
  if (isStdio(declaration)) {
    const { command, args, env } = declaration;
    return { type: "stdio", name, command, args, env: toRecord(env), asDeclared: declaration };
  }
  return { type: "foreign", name, declaration };
}

/** Undefined if there is nothing to declare. */
export function declarationOfSpec(spec: McpServerSpec): McpDeclaration | InProcessServer | undefined {
  if (spec.asDeclared !== undefined) return spec.asDeclared as McpDeclaration;
  switch (spec.type) {
    case "stdio": {
      const { name, command, args, env } = spec;
      return { name, command, args: [...args], env: toPairs(env) };
    }
    case "http":
    case "sse":
      return remoteDeclaration(spec);
    case "memory":
      return spec;
    case "foreign":
      return spec.declaration as McpDeclaration;
    case "unusable":
      return undefined;
  }
}

export function remoteDeclaration({ type, name, url, headers }: RemoteServerSpec): RemoteDeclaration {
  return { type, name, url, headers: toPairs(headers) };
}

function isStdio(declaration: McpDeclaration): declaration is StdioDeclaration {
  const { type, command } = declaration as { type?: unknown; command?: unknown };
  return (type === undefined || type === "stdio") && typeof command === "string";
}

function getDeclaredName(declaration: McpDeclaration): string {
  const { name } = declaration as { name?: unknown };
  return typeof name === "string" ? name : "unnamed";
}

function toRecord(
  pairs: readonly { readonly name: string; readonly value: string }[] | undefined,
): Record<string, string> {
  return Object.fromEntries((pairs ?? []).map(({ name, value }) => [name, value]));
}

function toPairs(record: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(record).map(([name, value]) => ({ name, value }));
}
