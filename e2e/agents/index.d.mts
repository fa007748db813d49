export interface AgentRecipe {
  readonly name: string;
  readonly version: string;
  /** The versions of ACP that it can be talked to in. */
  readonly protocolVersions: readonly number[];
  /** Writes the agent's settings into the home, which must exist. */
  prepare(place: { home: string; cwd: string; modelUrl: string }): Promise<Launch>;
  /** A call of the agent's own tool that makes an empty file and that it asks a permission for. */
  permissionCall(options: { file: string }): ModelCall;
  /** A call of the agent's own tool that writes a file. */
  writeCall(options: { file: string; text: string }): ModelCall;
  /** A call of a tool of an MCP server that was given in `mcpServers`. */
  mcpCall(options: { server: string; tool: string; input: unknown }): ModelCall;
}

export interface Launch {
  readonly command: readonly [string, ...string[]];
  readonly env: Readonly<Record<string, string>>;
}

export interface ModelCall {
  readonly name: string;
  readonly namespace?: string;
  readonly input: unknown;
}

export const agents: readonly AgentRecipe[];
