/** The `gemini-cli` backend. `drive-mode.ts` decides how it runs; the ADR has the reasons. */
import type { Backend, Capabilities } from "../../domain/index.ts";
import { programBackend, type Program, type ProgramOptions } from "../program/index.ts";
import { headless } from "./headless.ts";
import { overAcp } from "./over-acp.ts";
import { wayOf } from "./way.ts";

export type GeminiOptions = ProgramOptions;

const OVER_ACP: Capabilities = {
  resume: false,
  fork: false,
  permissions: true,
  questions: false,
  mcp: true,
  models: true,
  modes: true,
  interrupt: true,
  usage: true,
  cost: false,
};
/** Without MCP servers; with servers the program runs over ACP. */
const HEADLESS: Capabilities = { ...OVER_ACP, resume: true, permissions: false, interrupt: false };

const gemini: Program = {
  kind: "gemini-cli",
  capabilities: OVER_ACP,
  async start(start) {
    const way = wayOf(start, start.permissions);
    return way.headless ? headless(start, way, HEADLESS) : overAcp(start, way, OVER_ACP);
  },
};

export function geminiBackend(options: GeminiOptions): Backend {
  return programBackend(gemini, options);
}
