export interface AgentRecipe {
  readonly name: string;
  readonly version: string;
  /** The versions of ACP that the agent supports. */
  readonly protocolVersions: readonly number[];
  /** Writes the agent's settings into an existing home folder. */
  prepare(place: { home: string; cwd: string; modelUrl: string }): Promise<Launch>;
  /** A call of an agent tool that creates an empty file and needs a permission. */
  permissionCall(options: { file: string }): ModelCall;
  /** A call of an agent tool that writes a file. */
  writeCall(options: { file: string; text: string }): ModelCall;
  /** A call of a tool of an MCP server from `mcpServers`. */
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
