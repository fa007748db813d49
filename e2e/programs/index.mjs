// The real programs that have a dedicated backend.
import { claude } from "./claude.mjs";
import { codex } from "./codex.mjs";
import { gemini } from "./gemini.mjs";
import { opencode } from "./opencode.mjs";

export const programs = { claude, codex, gemini, opencode };
