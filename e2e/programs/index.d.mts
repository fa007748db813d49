import type { ToolCallFormat } from "../../src/backends/contract/index.ts";

export interface ProgramRecipe extends ToolCallFormat {
  readonly name: string;
  readonly version: string;
  readonly backend: string;
  /** Writes the program's settings into an existing home folder. `toml` has the lines of `[agents.it]`. */
  prepare(place: {
    home: string;
    cwd: string;
    modelUrl: string;
  }): Promise<{ env: Record<string, string>; toml: string }>;
}

export const programs: Readonly<Record<"claude" | "codex" | "gemini" | "opencode", ProgramRecipe>>;
