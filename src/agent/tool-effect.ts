/** The effect of a tool call: permission first, then at most one run, and an outcome that is never made up. */
import { z } from "zod";
import {
  type EffectKey,
  type EventBody,
  type PermissionDecision,
  type PermissionRequest,
  type ToolCall,
  type ToolContext,
  type ToolResult,
  type TurnContext,
} from "../domain/index.ts";
import type { ModelCall, ToolAnswer } from "../providers/index.ts";
import { Result, type PreparedCall, type RunnableCall } from "../tools/index.ts";
import type { Acting } from "./open.ts";

/** Read back only after a crash, so built only then. */
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

export async function runTool(agent: Acting, turn: TurnContext, step: number, call: ModelCall): Promise<ToolAnswer> {
  const { toolId, name } = call;
  const { text, outcome, blobs } = await resultOf(agent, turn, step, call);
  return { toolId, name, text, failed: outcome !== "ok", ...(blobs !== undefined && { blobs }) };
}

async function resultOf(agent: Acting, turn: TurnContext, step: number, call: ModelCall): Promise<ToolResult> {
  const its = keyOf(agent, turn, step, call);
  const prepared = turn.effects.isFinished(its("tool")) ? remembered(call) : await prepare(agent, turn, call);
  const acting = { turn, prepared, key: its };
  if (prepared.kind === "settled") {
    // A call that could be run when the model made it may have been, before its tool was taken away or refused.
    return settleAtOnce(acting, prepared.result, call.invalid === undefined);
  }
  const { spec } = prepared;
  const decision = spec.readOnly ? await turn.permit(request(prepared)) : await decided(acting, prepared);
  if (!decision.allowed) return settleAtOnce(acting, { outcome: decision.outcome, text: decision.message });
  const { value } = await turn.effects.run<ToolResult>({
    key: its("tool"),
    repeatable: spec.readOnly,
    started: [startedEvent(prepared)],
    perform: async () => {
      const value = await prepared.run(contextOf(agent, turn, call));
      return { value, events: [endedEvent(call, value)] };
    },
    parse: (value) => Result.parse(value),
    lost: () => ({ value: LOST, events: [endedEvent(call, LOST)] }),
  });
  return value;
}

interface Step {
  readonly turn: TurnContext;
  readonly prepared: PreparedCall;
  readonly key: (kind: "tool" | "wait") => EffectKey;
}

/** What it came to stands in the journal: neither a plugin nor a person is asked again, whatever they would say now. */
function remembered(call: ModelCall): PreparedCall {
  return { kind: "settled", spec: undefined, call, description: { title: call.name }, result: LOST };
}

async function prepare({ artifact }: Acting, { signal }: TurnContext, call: ModelCall): Promise<PreparedCall> {
  if (call.invalid === undefined) return artifact.prepare(call, { signal });
  const spec = artifact.catalog.get(call.name);
  const description = artifact.describe(call);
  return { kind: "settled", spec, call, description, result: { outcome: "failed", text: call.invalid } };
}

function contextOf({ cwd, marker }: Acting, turn: TurnContext, { toolId }: ModelCall): ToolContext {
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
    ask: (question, options) => turn.ask(question, options),
    putBlob: (bytes) => turn.putBlob(bytes),
    getBlob: (hash) => turn.blob(hash),
    record: async (body) => {
      log.record(body);
      await log.commit();
    },
  };
}

/** The decision is journalled, so that a replay under another policy does not rewrite what was done under this one. */
async function decided(acting: Step, prepared: RunnableCall): Promise<PermissionDecision> {
  const { turn } = acting;
  const { value } = await turn.effects.run<PermissionDecision>({
    key: acting.key("wait"),
    repeatable: true,
    perform: async () => ({ value: await turn.permit(request(prepared)) }),
    parse: (value) => Decision.parse(value),
    lost: () => {
      throw new Error("a wait may always be repeated");
    },
  });
  return value;
}

async function settleAtOnce(acting: Step, value: ToolResult, mayHaveRun = false): Promise<ToolResult> {
  const { turn, prepared } = acting;
  const settled = await turn.effects.run<ToolResult>({
    key: acting.key("tool"),
    repeatable: !mayHaveRun,
    started: [startedEvent(prepared)],
    perform: () => Promise.resolve({ value, events: [endedEvent(prepared.call, value)] }),
    parse: (journalled) => Result.parse(journalled),
    lost: () => ({ value: LOST, events: [endedEvent(prepared.call, LOST)] }),
  });
  return settled.value;
}

function keyOf({ sessionId }: Acting, { turnId }: TurnContext, step: number, { toolId: id }: ModelCall): Step["key"] {
  return (kind) => ({ sessionId, turnId, step, kind, id });
}

function request({ call, spec, description }: RunnableCall): PermissionRequest {
  const { name, kind, readOnly } = spec;
  return { toolId: call.toolId, tool: name, title: description.title, kind, readOnly, input: call.input };
}

function startedEvent({ call, spec, description }: PreparedCall): EventBody {
  const { toolId, name, input } = call;
  const { title, locations } = description;
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

function endedEvent({ toolId }: ToolCall, result: ToolResult): EventBody {
  const { outcome, text, locations, diffs, blobs, structured } = result;
  return {
    type: "tool.ended",
    toolId,
    outcome,
    text,
    ...(locations && { locations }),
    ...(diffs && { diffs }),
    ...(blobs && { blobs }),
    ...(structured !== undefined && { structured }),
  };
}
