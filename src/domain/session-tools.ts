/** The tools, MCP servers and overlays of a session, for the process that drives it. */
import {
  flagArgument,
  functionArgument,
  listArgument,
  numberArgument,
  objectArgument,
  oneOfArgument,
  optionalArgument,
  textArgument,
} from "./arguments.ts";
import type { InProcessServerSpec, LoginOutcome, McpSnapshot } from "./mcp.ts";
import type { ToolSource, ToolSpec } from "./tools.ts";

export interface SessionTools {
  /** The tools that the agent can call now, including those that it finds by searching. */
  list(): readonly ToolSpec[];
  /** Takes effect at the next turn. Throws `tool_conflict` and changes nothing. */
  setOverlay(overlay: Overlay): void;
  /** Enables or disables a tool. A disabled tool is not in the catalog. */
  choose(tool: string, enabled: boolean): void;
  /** The current state of the MCP servers. */
  servers(): McpSnapshot;
  /** Calls the listener when tools or servers change. Returns a function that removes it. */
  onChange(listener: () => void): () => void;
  /** Resolves when no server is connecting for the first time anymore. Rejects when the signal fires. */
  settled(options?: WaitOptions): Promise<void>;
  /** Rejects with `mcp_unknown`, `mcp_unavailable` or `mcp_failed`, like the next methods. */
  getPrompt(server: string, name: string, options?: GetPromptOptions): Promise<readonly McpPart[]>;
  readResource(server: string, uri: string, options?: WaitOptions): Promise<readonly McpPart[]>;
  login(server: string, options?: WaitOptions): Promise<LoginOutcome>;
  /** Starts a new connection, with all attempts. */
  reconnect(server: string): void;
  /**
   * The agent's catalog as an MCP server of this process, for programs. Each call passes the session's permission
   * gate.
   */
  offer(): Promise<InProcessServerSpec>;
}

/** Options of a method that waits. */
export interface WaitOptions {
  /** The method rejects when it fires. */
  readonly signal?: AbortSignal | undefined;
}

export interface GetPromptOptions extends WaitOptions {
  /** The values of the prompt's arguments by their names. Default: none. */
  readonly args?: Readonly<Record<string, string>> | undefined;
}

/** A part of a prompt or resource. */
export type McpPart =
  | { readonly type: "text"; readonly text: string; readonly uri?: string | undefined }
  | {
      readonly type: "bytes";
      readonly bytes: Uint8Array;
      readonly mediaType: string;
      readonly uri?: string | undefined;
    };

/** Tools and instructions for one session. Its tools replace base tools of the same name. */
export interface Overlay {
  readonly sources: readonly ToolSource[];
  /** Default: none. */
  readonly contributions?: readonly PromptContribution[] | undefined;
  /** Whether the base tools, including those of plugins, stay available. Default: true. */
  readonly base?: boolean | undefined;
}

/** In the order of the system prompt. */
export const PROMPT_SLOTS = ["role", "guidance", "tools", "context"] as const;
export type PromptSlot = (typeof PROMPT_SLOTS)[number];

export interface PromptContribution {
  readonly slot: PromptSlot;
  readonly title: string;
  /** Higher comes first within its slot; ties keep their order. Default: 0. */
  readonly priority?: number | undefined;
  readonly content: string;
  /** Included only if one of these tools (exact, or with a trailing `*`) is in the catalog. */
  readonly tools?: readonly string[] | undefined;
}

/** Checks an overlay. The results of its sources are checked when they are used. */
export const OVERLAY_ARGUMENT = objectArgument({
  sources: listArgument(objectArgument({ list: functionArgument })),
  contributions: optionalArgument(
    listArgument(
      objectArgument({
        slot: oneOfArgument(...PROMPT_SLOTS),
        title: textArgument,
        content: textArgument,
        priority: optionalArgument(numberArgument),
        tools: optionalArgument(listArgument(textArgument)),
      }),
    ),
  ),
  base: optionalArgument(flagArgument),
});
