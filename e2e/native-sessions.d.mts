export interface OutsidePrompt {
  readonly name: "claude" | "codex" | "gemini" | "opencode";
  /** The program and its first arguments. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly prompt: string;
  /** The ID of an earlier session. */
  readonly resume?: string;
}

export function promptOutside(prompt: OutsidePrompt): Promise<string>;
