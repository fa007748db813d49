/** The `gemini-cli` backend. `drive-mode.ts` decides how it runs; the ADR has the reasons. */
import { ALL_CAPABILITIES, type Backend, type Capabilities } from "../../domain/index.ts";
import { programBackend, type AgentProgram, type ProgramOptions } from "../program/index.ts";
import { createHeadlessProgram } from "./headless.ts";
import { startGeminiOverAcp } from "./over-acp.ts";
import { chooseDriveMode } from "./drive-mode.ts";

export type GeminiOptions = ProgramOptions;

const OVER_ACP: Capabilities = { ...ALL_CAPABILITIES, resume: false, fork: false, questions: false, cost: false };
/** Without MCP servers; with servers the program runs over ACP. */
const HEADLESS: Capabilities = { ...OVER_ACP, resume: true, permissions: false, interrupt: false };

const gemini: AgentProgram = {
  kind: "gemini-cli",
  capabilities: OVER_ACP,
  async start(start) {
    const way = chooseDriveMode(start, start.permissions);
    return way.headless ? createHeadlessProgram(start, way, HEADLESS) : startGeminiOverAcp(start, way, OVER_ACP);
  },
};

export function geminiBackend(options: GeminiOptions): Backend {
  return programBackend(gemini, options);
}
