/** Reads a `.mcp.json` file and returns its servers as ACP declarations. */
import type { RemoteServerSpec, StdioServerSpec } from "../../domain/mcp.ts";
import { parseServerFile as parseSpecs, readServerFile as readSpecs } from "../../mcp/config/index.ts";
import type { EnvironmentVariables } from "../../stdx/index.ts";
import type { McpDeclaration } from "./declaration.ts";
import { declarationOfSpec } from "./spec.ts";

/** Rejects with `config_invalid`; the message names the file and the key. */
export async function readMcpFile(file: string, env: EnvironmentVariables = process.env): Promise<McpDeclaration[]> {
  return toDeclarations(await readSpecs(file, env));
}

export function parseMcpFile(text: string, file: string, env: EnvironmentVariables): McpDeclaration[] {
  return toDeclarations(parseSpecs(text, file, { env }));
}

function toDeclarations(specs: readonly (StdioServerSpec | RemoteServerSpec)[]): McpDeclaration[] {
  return specs.map((spec) => declarationOfSpec(spec) as McpDeclaration);
}
