// The real ACP agents that the suite drives.
import { claude } from "./claude.mjs";
import { codex } from "./codex.mjs";
import { gemini } from "./gemini.mjs";
import { opencode } from "./opencode.mjs";

export const agents = [claude, codex, gemini, opencode];
