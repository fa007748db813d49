/** Properties of each program, for the real one and its stand-in. */
import { ALL_CAPABILITIES } from "../../domain/index.ts";
import type { Subject } from "./subject.ts";

export type ProgramName = "claude" | "claude-pty" | "codex" | "codex-exec" | "gemini" | "gemini-headless" | "opencode";

export type Facts = Omit<Subject, "open" | "skips">;

const claude: Facts = {
  name: "Claude Code",
  backend: "claude-code",
  capabilities: { ...ALL_CAPABILITIES, resumeTurn: true },
  secrets: ["ANTHROPIC_API_KEY"],
  mode: "acceptEdits",
};

const codex: Facts = {
  name: "Codex (app-server)",
  backend: "codex",
  capabilities: { ...ALL_CAPABILITIES, cost: false, resumeTurn: true },
  secrets: ["OPENAI_API_KEY"],
  mode: "workspace-write",
};

const gemini: Facts = {
  name: "Gemini CLI",
  backend: "gemini-cli",
  capabilities: { ...ALL_CAPABILITIES, resume: false, fork: false, questions: false, cost: false },
  secrets: ["GEMINI_API_KEY"],
  mode: "auto_edit",
};

export const FACTS: Readonly<Record<ProgramName, Facts>> = {
  claude,
  "claude-pty": { ...claude, name: "Claude Code (on a terminal)" },
  codex,
  "codex-exec": {
    ...codex,
    name: "Codex (exec)",
    capabilities: {
      ...ALL_CAPABILITIES,
      cost: false,
      fork: false,
      permissions: false,
      questions: false,
      interrupt: false,
      resumeTurn: false,
    },
    permissions: "all",
    streams: false,
  },
  gemini,
  "gemini-headless": {
    ...gemini,
    name: "Gemini CLI (headless)",
    capabilities: { ...gemini.capabilities, resume: true, permissions: false, interrupt: false },
    permissions: "all",
  },
  opencode: {
    name: "opencode",
    backend: "opencode",
    capabilities: { ...ALL_CAPABILITIES, questions: false },
    secrets: ["ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENAI_API_KEY", "SOME_OTHER_API_KEY"],
  },
};
