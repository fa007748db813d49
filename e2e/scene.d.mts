import type { ModelServer } from "../src/testing/index.ts";
import type { AgentRecipe, Launch } from "./agents/index.mjs";

/** Disposing of it ends every process that was started with its home, and removes its files. */
export interface Scene extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly cwd: string;
  readonly files: { readonly made: string; readonly written: string; readonly notes: string };
  readonly model: ModelServer;
  readonly launch: Launch;
  /** For `mcpServers` of a session's request. */
  readonly notesServer: { name: string; command: string; args: string[]; env: [] };
  /** What the tool of the MCP server was called with. */
  notes(): string[];
  made(): boolean;
  /** Those of the scene that run, also outside the agent's process group. */
  processes(): { pid: number; parent: number; group: number; command: string }[];
}

export function openScene(recipe: AgentRecipe): Promise<Scene>;
