/** What opening an agent takes: services of the process, and the options of the caller. */
import type { EnvironmentVariables } from "../stdx/index.ts";
import type { RegisteredBackends, RegisteredProviders } from "../backends/index.ts";
import type { OpenChildOptions, ChildrenParts } from "../children/index.ts";
import type { AgentDefinition, McpServerSpec, RemoteServerSpec } from "../domain/index.ts";
import type { Authorizer } from "../mcp/authorizer.ts";
import type { Session } from "../session/index.ts";
import type { Plugin } from "../tools/index.ts";

/** Services shared by every session of this process. */
export interface SharedServices {
  readonly env: EnvironmentVariables;
  readonly plugins: readonly ((session: PluginSession) => Plugin)[];
  readonly backends: RegisteredBackends;
  readonly providers: RegisteredProviders;
  /** Resolves a path against the working directory. Throws `cwd_missing`. */
  resolveFolder(path: string): string;
  authorizer(spec: RemoteServerSpec): Authorizer;
  /** Registers this process as an owner, once, and returns its marker for child processes. */
  claim(): string;
  /** Opens the sessions that an agent starts as its children. */
  readonly children: Omit<ChildrenParts, "open"> & {
    open(
      options: Omit<OpenChildOptions, "agent"> & AgentOverrides & { readonly agent: string | AgentDefinition },
    ): Promise<Session>;
  };
}

/** The session that a plugin is created for. */
export interface PluginSession {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
}

/** Options for the agent of one opened session. Not persisted in the log. */
export interface AgentOverrides {
  /** URL of the model API. Takes precedence over the environment and the configuration. */
  readonly baseUrl?: string;
  /** Key of the model API. Takes precedence over the environment and the configuration. */
  readonly apiKey?: string;
  /**
   * The key under which the provider caches prompts, at most 64 characters. Takes precedence over the configuration.
   * Default: the ID of the session.
   */
  readonly cacheKey?: string;
  /** MCP servers of this session, in addition to the configured ones. A name that is configured too means this one. */
  readonly mcpServers?: readonly McpServerSpec[];
  /** Variables for the agent and the processes it starts, in addition to the environment of Rookery. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folders that the built-in agent's file tools can access, in addition to the working directory and the configured ones. */
  readonly folders?: readonly string[];
  /** Starts no agent: the session only holds the tools for `session.tools.offer()` and rejects prompts. Default: false. */
  readonly toolsOnly?: boolean;
  /** Whether a person can answer permission requests. If false, requests are denied. Default: true. */
  readonly attended?: boolean;
}
