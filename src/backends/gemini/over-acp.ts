/** Drives Gemini CLI over ACP, for policies that may ask: one process, always with a new session. */
import type { Capabilities, EventBody, PermissionRequest } from "../../domain/index.ts";
import type { schema } from "../../acp/index.ts";
import { startLive, type LiveOptions } from "../acp/live.ts";
import { noiseEvents } from "../acp/noise.ts";
import { AcpTurn, type TurnParts } from "../acp/turn.ts";
import type { LiveProgram, ProgramTurn, PromptPart, Start } from "../program/index.ts";
import { isSame } from "./headless.ts";
import { commandOf, environmentOf } from "./launch.ts";
import { wayOf, type Way } from "./way.ts";

/** Output events kept between turns; further ones are dropped. */
const MOST_UNSAID = 100;

/** Does not resume the program's session, because loading destroys it (0.61). It gets the conversation so far. */
export async function overAcp(start: Start, way: Way, capabilities: Capabilities): Promise<LiveProgram> {
  const { context, servers } = start;
  const { agent } = context;
  const command = commandOf(start, way.approval, ["--acp"]);
  const unsaid: EventBody[] = [];
  let running: AcpTurn | undefined;
  const live = await startLive({
    context: { ...context, forkOf: undefined, agent: { ...agent, model: undefined, mode: undefined } }, // set by the command line
    servers,
    command,
    env: environmentOf(start),
    serve: [],
    nativeId: undefined,
    signal: start.signal,
    handlers: handlersOf(() => running),
    gate: () => Promise.resolve({ allowed: false, message: "Rookery serves no files or terminals to this agent" }),
    noise: (noise) => {
      const events = noiseEvents(noise, agent.name);
      if (running !== undefined) running.record(...events);
      else if (unsaid.length < MOST_UNSAID) unsaid.push(...events);
    },
  });
  return {
    process: live.process,
    command,
    how: "new",
    nativeId: live.session.id,
    version: live.client.agent.agentInfo?.version,
    capabilities,
    suits: (permissions) => isSame(wayOf(start, permissions), way),
    get isOver() {
      return live.client.connection.over !== undefined;
    },
    async run(turn) {
      const parts = { turn: asTurn(turn), session: live.session, agent: agent.name, costBefore: 0 };
      running = new AcpTurn({ ...parts, cameEarly: () => false, offered: () => undefined }); // ProgramTurn handles calls of Rookery tools
      running.record(...unsaid.splice(0));
      try {
        return await running.run(turn.prompt.map(blockOf), () => undefined);
      } finally {
        running = undefined;
      }
    },
    async [Symbol.asyncDispose]() {
      await live[Symbol.asyncDispose]();
    },
  };
}

function handlersOf(running: () => AcpTurn | undefined): LiveOptions["handlers"] {
  return {
    update: (item) => (item.when === "turn" ? running()?.update(item) : undefined),
    permission: async (request) => running()?.permission(request) ?? { outcome: { outcome: "cancelled" } },
    elicitation: async (request) => running()?.elicitation(request) ?? { action: "cancel" },
  };
}

/** Adapts a `ProgramTurn` for `AcpTurn`, so that it recognizes calls of Rookery tools. */
function asTurn(turn: ProgramTurn): TurnParts["turn"] {
  return {
    signal: turn.signal,
    ask: (...args) => turn.ask(...args),
    permit: ({ toolId, tool, title, kind, input }: PermissionRequest) =>
      turn.permit({ id: toolId, name: tool, title, kind, input }),
    log: { ready: () => turn.ready(), record: (...bodies) => bodies.forEach((body) => tellBody(turn, body)) },
  };
}

function tellBody({ tell }: ProgramTurn, body: EventBody): void {
  if (body.type === "tool.started") tell.startTool({ ...body, id: body.toolId });
  else if (body.type === "tool.ended") tell.endTool(body.toolId, body);
  else tell.record(body);
}

function blockOf(part: PromptPart): schema.ContentBlock {
  return part.type === "text" ? part : { type: "image", data: part.data, mimeType: part.mediaType };
}
