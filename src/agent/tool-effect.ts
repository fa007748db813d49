/** The effect of a tool call: permission first, then at most one run, and an outcome that is never made up. */
import { createHash } from "node:crypto";
import type {
  EffectKey,
  EventBody,
  PermissionRequest,
  ToolCall,
  ToolContext,
  ToolResult,
  TurnContext,
} from "../domain/index.ts";
import type { ModelCall, ToolAnswer } from "../providers/index.ts";
import { ToolResultSchema, type PreparedCall, type RunnableCall } from "../tools/index.ts";
import type { Acting } from "./open.ts";
import { inTime } from "./tool-time.ts";

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

async function resultOf(
  agent: Acting,
  turn: TurnContext,
  step: number,
  call: ModelCall & { readonly parent?: string },
): Promise<ToolResult> {
  const key = { sessionId: agent.sessionId, turnId: turn.turnId, step, kind: "tool" as const, id: call.toolId };
  const prepared = turn.effects.isFinished(key) ? remembered(call) : await prepare(agent, turn, call);
  const acting = { turn, prepared, key, parent: call.parent };
  if (prepared.kind === "settled") return settleAtOnce(acting, prepared.result, call.invalid !== undefined);
  const { signal } = turn;
  const decision = await turn.permit(request(prepared), { signal });
  const { spec } = prepared;
  if (!decision.allowed) {
    return settleAtOnce(acting, { outcome: decision.outcome, text: decision.message }, spec.readOnly);
  }
  const { value } = await turn.effects.run<ToolResult>({
    key,
    repeatable: spec.readOnly || spec.repeatable === true,
    started: [startedEvent(acting)],
    perform: async () => {
      const value = await inTime(agent, spec, contextOf(agent, turn, step, call), (context) => prepared.run(context));
      return { value, events: [endedEvent(call, value)] };
    },
    parse: (value) => ToolResultSchema.parse(value),
    lost: () => ({ value: LOST, events: [endedEvent(call, LOST)] }),
  });
  return value;
}

interface Step {
  readonly turn: TurnContext;
  readonly prepared: PreparedCall;
  readonly key: EffectKey;
  readonly parent: string | undefined;
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

function contextOf(agent: Acting, turn: TurnContext, step: number, { toolId }: ModelCall): ToolContext {
  const { cwd, marker, artifact } = agent;
  const { log, signal, turnId } = turn;
  const broken = new AbortController();
  const made = new Map<string, number>();
  return {
    cwd,
    marker,
    toolId,
    turnId,
    signal: AbortSignal.any([signal, broken.signal]),
    // Called where nobody catches. A broken log ends the tool, and is told by what the tool records next.
    progress: (text) => {
      try {
        log.record({ type: "tool.updated", toolId, text });
      } catch (error) {
        broken.abort(error);
      }
    },
    // Named after what is asked for: a program that runs again finds each of its calls, in whatever order they end.
    call: (name, input) => {
      const what = hashOf(name, input);
      const times = (made.get(what) ?? 0) + 1;
      made.set(what, times);
      return resultOf(agent, turn, step, { toolId: `${toolId}.${what}.${times}`, name, input, parent: toolId });
    },
    catalog: artifact.catalog,
    ask: (question, options) => turn.ask(question, options),
    putBlob: (bytes) => turn.putBlob(bytes),
    getBlob: (hash) => turn.blob(hash),
    record: async (body) => {
      log.record(body);
      await log.commit();
    },
  };
}

/** Nothing is run. What may have been begun before a crash, and changes something, is lost although it would be refused now. */
async function settleAtOnce(acting: Step, value: ToolResult, cannotHaveRun: boolean): Promise<ToolResult> {
  const { turn, prepared, key } = acting;
  const settled = await turn.effects.run<ToolResult>({
    key,
    repeatable: cannotHaveRun,
    instant: true,
    started: [startedEvent(acting)],
    perform: () => Promise.resolve({ value, events: [endedEvent(prepared.call, value)] }),
    parse: (journalled) => ToolResultSchema.parse(journalled),
    lost: () => ({ value: LOST, events: [endedEvent(prepared.call, LOST)] }),
  });
  return settled.value;
}

function hashOf(name: string, input: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([name, input]))
    .digest("hex")
    .slice(0, 12);
}

function request({ call, spec, description }: RunnableCall): PermissionRequest {
  const { name, kind, readOnly } = spec;
  return { toolId: call.toolId, tool: name, title: description.title, kind, readOnly, input: call.input };
}

function startedEvent({ prepared, parent }: Step): EventBody {
  const { call, spec, description } = prepared;
  const { toolId, name, input } = call;
  const { title, locations } = description;
  return {
    type: "tool.started",
    toolId,
    name,
    title,
    kind: spec?.kind ?? "other",
    input: input === undefined ? {} : input,
    ...(locations !== undefined && { locations: [...locations] }),
    ...(parent !== undefined && { parent }),
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
