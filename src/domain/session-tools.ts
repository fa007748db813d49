/** What an agent has to work with in a session, for whoever holds the session. */
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
  /** What the agent can call now, whether it is told of it or has to search for it. */
  list(): readonly ToolSpec[];
  /** Throws `tool_conflict`, and changes nothing then. Holds from the next turn on. */
  setOverlay(overlay: Overlay): void;
  /** A tool that a person does not want is not in the catalog, whenever it is there. */
  choose(tool: string, enabled: boolean): void;
  /** The MCP servers, as they are now. */
  servers(): McpSnapshot;
  /** Told when tools or servers changed; returns how to stop being told. */
  onChange(listener: () => void): () => void;
  /** Resolves when no server is being reached for the first time any more. Rejects when the signal fires. */
  settled(signal: AbortSignal): Promise<void>;
  /** Rejects with `mcp_unknown`, `mcp_unavailable` or `mcp_failed`; so do the next ones. */
  getPrompt(
    server: string,
    name: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<readonly McpPart[]>;
  readResource(server: string, uri: string, signal: AbortSignal): Promise<readonly McpPart[]>;
  login(server: string, signal: AbortSignal): Promise<LoginOutcome>;
  /** Begins anew, with all tries. */
  reconnect(server: string): void;
  /** The agent's catalog as an MCP server of this process, for a program that is not ours: each call passes the session's gate. */
  offer(): Promise<InProcessServerSpec>;
}

/** What prompts and resources hold. */
export type McpPart =
  | { readonly type: "text"; readonly text: string; readonly uri?: string | undefined }
  | {
      readonly type: "bytes";
      readonly bytes: Uint8Array;
      readonly mediaType: string;
      readonly uri?: string | undefined;
    };

/** Extends one session: its tools shadow base tools of the same name. */
export interface Overlay {
  readonly sources: readonly ToolSource[];
  /** None if not said. */
  readonly contributions?: readonly PromptContribution[] | undefined;
  /** Whether base tools, those of plugins too, stay beside its own. They do if not said. */
  readonly base?: boolean | undefined;
}

/** In the order in which they are said. */
export const PROMPT_SLOTS = ["role", "guidance", "tools", "context"] as const;
export type PromptSlot = (typeof PROMPT_SLOTS)[number];

export interface PromptContribution {
  readonly slot: PromptSlot;
  readonly title: string;
  /** Higher comes first within its slot; 0 where left out. Among equals, whoever came first. */
  readonly priority?: number | undefined;
  readonly content: string;
  /** Kept only if one of these (exact, or with a trailing `*`) is in the catalog. */
  readonly tools?: readonly string[] | undefined;
}

/** What an overlay must be. What its sources return is checked where it is used. */
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
