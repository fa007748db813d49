/** The effect of a tool call: permission first, then at most one run, and an outcome that is never made up. */
import { z } from "zod";
import {
  FileDiff,
  Location,
  ToolOutcome,
  type EventBody,
  type PermissionDecision,
  type ToolContext,
  type ToolResult,
  type ToolSpec,
  type TurnContext,
} from "../domain/index.ts";
import type { ModelCall, ToolAnswer } from "../providers/index.ts";
import type { BuiltIn } from "./open.ts";

/** Read back only after a crash, so built only then. */
const Result = z.lazy(() =>
  z.object({
    outcome: ToolOutcome,
    text: z.string(),
    locations: z.array(Location).optional(),
    diffs: z.array(FileDiff).optional(),
  }),
) as z.ZodType<ToolResult>;

const Decision = z.lazy(() =>
  z.union([
    z.object({ allowed: z.literal(true) }),
    z.object({ allowed: z.literal(false), outcome: z.enum(["denied", "cancelled"]), message: z.string() }),
  ]),
) satisfies z.ZodType<PermissionDecision>;

const LOST: ToolResult = {
  outcome: "unknown",
  text:
    "The process that ran this was killed before it could record what came of it. It may or may not have happened, " +
    "wholly or in part. It was not repeated. Look at the present state before you go on.",
};

export async function runTool(agent: BuiltIn, turn: TurnContext, step: number, call: ModelCall): Promise<ToolAnswer> {
  const result = await resultOf(agent, turn, step, call);
  const { toolId, name } = call;
  return { toolId, name, text: result.text, failed: result.outcome !== "ok" };
}

async function resultOf(agent: BuiltIn, turn: TurnContext, step: number, call: ModelCall): Promise<ToolResult> {
  const spec = agent.tools.list().find(({ name }) => name === call.name);
  if (spec === undefined || call.invalid !== undefined) {
    const known = agent.tools.list().map(({ name }) => name);
    const text = call.invalid ?? `there is no tool "${call.name}"; there are: ${known.join(", ")}`;
    // A call that could be run when the model made it may have been, before its tool was taken away.
    const mayHaveRun = call.invalid === undefined;
    return settleAtOnce(agent, turn, step, call, spec, { outcome: "failed", text }, mayHaveRun);
  }
  const decision = spec.readOnly
    ? await turn.permit(request(agent, call, spec))
    : await decided(agent, turn, step, call, spec);
  if (!decision.allowed) {
    return settleAtOnce(agent, turn, step, call, spec, { outcome: decision.outcome, text: decision.message });
  }
  const { value } = await turn.effects.run<ToolResult>({
    key: key(agent, turn, step, "tool", call),
    repeatable: spec.readOnly,
    started: [startedEvent(agent, call, spec)],
    perform: async () => {
      const value = await agent.tools.call(call, contextOf(agent, turn, call));
      return { value, events: [endedEvent(call, value)] };
    },
    parse: (value) => Result.parse(value),
    lost: () => ({ value: LOST, events: [endedEvent(call, LOST)] }),
  });
  return value;
}

function contextOf({ cwd, marker }: BuiltIn, turn: TurnContext, { toolId }: ModelCall): ToolContext {
  const { log, signal } = turn;
  const broken = new AbortController();
  return {
    cwd,
    marker,
    signal: AbortSignal.any([signal, broken.signal]),
    // Called where nobody catches. A broken log ends the tool, and is told by what the tool records next.
    progress: (text) => {
      try {
        log.record({ type: "tool.updated", toolId, text });
      } catch (error) {
        broken.abort(error);
      }
    },
    ask: (question) => turn.ask(question),
    putBlob: (bytes) => turn.putBlob(bytes),
    getBlob: (hash) => turn.blob(hash),
    record: async (body) => {
      log.record(body);
      await log.commit();
    },
  };
}

/** The decision is journalled, so that a replay under another policy does not rewrite what was done under this one. */
async function decided(agent: BuiltIn, turn: TurnContext, step: number, call: ModelCall, spec: ToolSpec) {
  const { value } = await turn.effects.run<PermissionDecision>({
    key: key(agent, turn, step, "wait", call),
    repeatable: true,
    perform: async () => ({ value: await turn.permit(request(agent, call, spec)) }),
    parse: (value) => Decision.parse(value),
    lost: () => {
      throw new Error("a wait may always be repeated");
    },
  });
  return value;
}

async function settleAtOnce(
  agent: BuiltIn,
  turn: TurnContext,
  step: number,
  call: ModelCall,
  spec: ToolSpec | undefined,
  value: ToolResult,
  mayHaveRun = false,
): Promise<ToolResult> {
  const settled = await turn.effects.run<ToolResult>({
    key: key(agent, turn, step, "tool", call),
    repeatable: !mayHaveRun,
    started: [startedEvent(agent, call, spec)],
    perform: () => Promise.resolve({ value, events: [endedEvent(call, value)] }),
    parse: (journalled) => Result.parse(journalled),
    lost: () => ({ value: LOST, events: [endedEvent(call, LOST)] }),
  });
  return settled.value;
}

function key(
  { sessionId }: BuiltIn,
  { turnId }: TurnContext,
  step: number,
  kind: "tool" | "wait",
  { toolId }: ModelCall,
) {
  return { sessionId, turnId, step, kind, id: toolId };
}

function request({ tools }: BuiltIn, call: ModelCall, { name, kind, readOnly }: ToolSpec) {
  const { title } = tools.describe(call);
  return { toolId: call.toolId, tool: name, title, kind, readOnly, input: call.input };
}

function startedEvent({ tools }: BuiltIn, call: ModelCall, spec: ToolSpec | undefined): EventBody {
  const { toolId, name, input } = call;
  const { title, locations } = spec === undefined ? { title: name } : tools.describe(call);
  return {
    type: "tool.started",
    toolId,
    name,
    title,
    kind: spec?.kind ?? "other",
    input,
    ...(locations !== undefined && { locations: [...locations] }),
  };
}

function endedEvent({ toolId }: ModelCall, { outcome, text, locations, diffs }: ToolResult): EventBody {
  return { type: "tool.ended", toolId, outcome, text, ...(locations && { locations }), ...(diffs && { diffs }) };
}
