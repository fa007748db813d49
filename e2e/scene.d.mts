import type { ModelServer } from "../src/testing/index.ts";
import type { AgentRecipe, Launch } from "./agents/index.mjs";

/** Disposal ends every process that was started with its home, and removes its files. */
export interface Scene extends AsyncDisposable {
  readonly root: string;
  readonly home: string;
  readonly cwd: string;
  readonly files: { readonly made: string; readonly written: string; readonly notes: string };
  readonly model: ModelServer;
  readonly launch: Launch;
  /** The entry for `mcpServers` in a session request. */
  readonly notesServer: { name: string; command: string; args: string[]; env: [] };
  /** Returns the arguments of the MCP tool calls. */
  notes(): string[];
  made(): boolean;
  /** Returns the running processes of the scene, including those outside the agent's process group. */
  processes(): { pid: number; parent: number; group: number; command: string }[];
}

export function openScene(recipe: AgentRecipe): Promise<Scene>;
