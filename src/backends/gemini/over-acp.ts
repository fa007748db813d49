/** Drives Gemini CLI over ACP, for policies that may ask: one process, always with a new session. */
import type { Capabilities } from "../../domain/index.ts";
import { startAcpProgram } from "../acp/live-program.ts";
import { AcpMessageRouter } from "../acp/message-router.ts";
import type { LiveProgram, ProgramStart } from "../program/index.ts";
import { isSameDriveMode } from "./headless.ts";
import { buildGeminiCommand, buildGeminiEnvironment } from "./launch.ts";
import { chooseDriveMode, type DriveMode } from "./drive-mode.ts";

/** Does not resume the program's session, because loading destroys it (0.61). It gets the conversation so far. */
export function startGeminiOverAcp(
  start: ProgramStart,
  way: DriveMode,
  capabilities: Capabilities,
): Promise<LiveProgram> {
  const { context, servers, signal } = start;
  const { agent } = context;
  return startAcpProgram({
    context: { ...context, agent: { ...agent, model: undefined, mode: undefined } }, // set by the command line
    servers,
    command: buildGeminiCommand(start, way.approval, ["--acp"]),
    env: buildGeminiEnvironment(start),
    serve: [],
    native: undefined,
    signal,
    router: new AcpMessageRouter(agent.name),
    readCapabilities: () => capabilities,
    fitsPolicy: (permissions) => isSameDriveMode(chooseDriveMode(start, permissions), way),
    recordsVersion: true,
    promptCapabilities: { image: true },
  });
}
