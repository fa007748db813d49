import type { Script } from "../../src/testing/index.ts";
import type { AgentRecipe } from "./index.mjs";

export const PROMPTS: Readonly<Record<"hello" | "permission" | "write" | "mcp" | "wait", string>>;
export const NOTE: string;
export const TEXT: string;
export function modelScript(agent: AgentRecipe, options: { made: string; written: string; server?: string }): Script;
