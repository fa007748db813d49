/** Drives Gemini CLI over ACP, for policies that may ask: one process, always with a new session. */
import type { Capabilities, EventBody, PermissionRequest } from "../../domain/index.ts";
import type { schema } from "../../acp/index.ts";
import { startLiveAcpAgent, type LiveAcpOptions } from "../acp/live-agent.ts";
import { toNoiseEvents } from "../acp/noise.ts";
import { AcpTurnDriver, type AcpTurnParts } from "../acp/turn.ts";
import type { LiveProgram, ProgramTurn, PromptPart, ProgramStart } from "../program/index.ts";
import { isSameDriveMode } from "./headless.ts";
import { buildGeminiCommand, buildGeminiEnvironment } from "./launch.ts";
import { chooseDriveMode, type DriveMode } from "./drive-mode.ts";

/** Output events kept between turns; further ones are dropped. */
const MAX_PENDING_EVENTS = 100;

/** Does not resume the program's session, because loading destroys it (0.61). It gets the conversation so far. */
export async function startGeminiOverAcp(
  start: ProgramStart,
  way: DriveMode,
  capabilities: Capabilities,
): Promise<LiveProgram> {
  const { context, servers } = start;
  const { agent } = context;
  const command = buildGeminiCommand(start, way.approval, ["--acp"]);
  const unsaid: EventBody[] = [];
  let running: AcpTurnDriver | undefined;
  const live = await startLiveAcpAgent({
    context: { ...context, forkOf: undefined, agent: { ...agent, model: undefined, mode: undefined } }, // set by the command line
    servers,
    command,
    env: buildGeminiEnvironment(start),
    serve: [],
    nativeId: undefined,
    signal: start.signal,
    handlers: createHandlers(() => running),
    gate: () => Promise.resolve({ allowed: false, message: "Rookery serves no files or terminals to this agent" }),
    noise: (noise) => {
      const events = toNoiseEvents(noise, agent.name);
      if (running !== undefined) running.record(...events);
      else if (unsaid.length < MAX_PENDING_EVENTS) unsaid.push(...events);
    },
  });
  return {
    process: live.process,
    command,
    how: "new",
    nativeId: live.session.id,
    version: live.client.agent.agentInfo?.version,
    capabilities,
    fitsPolicy: (permissions) => isSameDriveMode(chooseDriveMode(start, permissions), way),
    get hasEnded() {
      return live.client.connection.over !== undefined;
    },
    async run(turn) {
      const parts = { turn: toAcpTurn(turn), session: live.session, agent: agent.name, costBefore: 0 };
      running = new AcpTurnDriver({ ...parts, cameEarly: () => false, findOfferedTool: () => undefined }); // ProgramTurn handles calls of Rookery tools
      running.record(...unsaid.splice(0));
      try {
        return await running.run(turn.prompt.map(toGeminiBlock), () => undefined);
      } finally {
        running = undefined;
      }
    },
    async [Symbol.asyncDispose]() {
      await live[Symbol.asyncDispose]();
    },
  };
}

function createHandlers(running: () => AcpTurnDriver | undefined): LiveAcpOptions["handlers"] {
  return {
    update: (item) => (item.when === "turn" ? running()?.update(item) : undefined),
    permission: async (request) => running()?.permission(request) ?? { outcome: { outcome: "cancelled" } },
    elicitation: async (request) => running()?.elicitation(request) ?? { action: "cancel" },
  };
}

/** Adapts a `ProgramTurn` for `AcpTurnDriver`, so that it recognizes calls of Rookery tools. */
function toAcpTurn(turn: ProgramTurn): AcpTurnParts["turn"] {
  return {
    signal: turn.signal,
    ask: (...args) => turn.ask(...args),
    permit: ({ toolId, tool, title, kind, input }: PermissionRequest) =>
      turn.permit({ id: toolId, name: tool, title, kind, input }),
    log: { ready: () => turn.ready(), record: (...bodies) => bodies.forEach((body) => recordBody(turn, body)) },
  };
}

function recordBody({ recorder }: ProgramTurn, body: EventBody): void {
  if (body.type === "tool.started") recorder.startTool({ ...body, id: body.toolId });
  else if (body.type === "tool.ended") recorder.endTool(body.toolId, body);
  else recorder.record(body);
}

function toGeminiBlock(part: PromptPart): schema.ContentBlock {
  return part.type === "text" ? part : { type: "image", data: part.data, mimeType: part.mediaType };
}
