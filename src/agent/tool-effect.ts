/** The effect of a tool call: asks for permission, runs the tool at most once, and never invents an outcome. */
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
import type { TurnAgent } from "./turn-agent.ts";
import { runWithTimeout } from "./tool-timeout.ts";

const LOST: ToolResult = {
  outcome: "unknown",
  text:
    "The process was killed while it ran this call, before it recorded a result. The call may have completed, run in part " +
    "or not run at all. It was not repeated. Check the current state before you continue.",
};

export async function runTool(agent: TurnAgent, turn: TurnContext, step: number, call: ModelCall): Promise<ToolAnswer> {
  const { toolId, name } = call;
  const { text, outcome, blobs } = await runToolCall(agent, turn, step, call);
  return { toolId, name, text, failed: outcome !== "ok", ...(blobs !== undefined && { blobs }) };
}

async function runToolCall(
  agent: TurnAgent,
  turn: TurnContext,
  step: number,
  call: ModelCall & { readonly parent?: string },
): Promise<ToolResult> {
  const key = { sessionId: agent.sessionId, turnId: turn.turnId, step, kind: "tool" as const, id: call.toolId };
  const prepared = turn.effects.isFinished(key) ? createRecordedCall(call) : await prepareCall(agent, turn, call);
  const callStep = { turn, prepared, key, parent: call.parent };
  if (prepared.kind === "settled") return settleWithoutRunning(callStep, prepared.result, call.invalid !== undefined);
  const { signal } = turn;
  const preview = () => prepared.preview({ cwd: agent.cwd, signal });
  const decision = await turn.permit({ ...createPermissionRequest(prepared), preview }, { signal });
  const { spec } = prepared;
  if (!decision.allowed) {
    return settleWithoutRunning(callStep, { outcome: decision.outcome, text: decision.message }, spec.readOnly);
  }
  const { value } = await turn.effects.run<ToolResult>({
    key,
    repeatable: spec.readOnly || spec.repeatable === true,
    started: [createStartedEvent(callStep)],
    perform: async () => {
      const value = await runWithTimeout(agent, spec, createToolContext(agent, turn, step, call), (context) =>
        prepared.run(context),
      );
      return { value, events: [createEndedEvent(call, value)] };
    },
    parse: (value) => ToolResultSchema.parse(value),
    lost: () => ({ value: LOST, events: [createEndedEvent(call, LOST)] }),
  });
  return value;
}

interface CallStep {
  readonly turn: TurnContext;
  readonly prepared: PreparedCall;
  readonly key: EffectKey;
  readonly parent: string | undefined;
}

/** The journal has the result, so neither a plugin nor a person is asked again. */
function createRecordedCall(call: ModelCall): PreparedCall {
  return { kind: "settled", spec: undefined, call, description: { title: call.name }, result: LOST };
}

async function prepareCall(agent: TurnAgent, { signal }: TurnContext, call: ModelCall): Promise<PreparedCall> {
  const { snapshot } = agent;
  if (call.invalid === undefined) return explainRemoval(agent, await snapshot.prepare(call, { signal }));
  const spec = snapshot.catalog.get(call.name);
  const description = snapshot.describe(call);
  return { kind: "settled", spec, call, description, result: { outcome: "failed", text: call.invalid } };
}

/** Says so if the tool existed in an earlier step, because the model may see it in the conversation. */
function explainRemoval({ offeredTools }: TurnAgent, prepared: PreparedCall): PreparedCall {
  if (prepared.kind === "run" || prepared.spec !== undefined || !offeredTools.has(prepared.call.name)) return prepared;
  const text = `${prepared.call.name} was removed since it was last offered; ${prepared.result.text}`;
  return { ...prepared, result: { ...prepared.result, text } };
}

function createToolContext(agent: TurnAgent, turn: TurnContext, step: number, { toolId }: ModelCall): ToolContext {
  const { cwd, marker, snapshot } = agent;
  const { log, signal, turnId } = turn;
  const broken = new AbortController();
  const callCounts = new Map<string, number>();
  return {
    cwd,
    marker,
    toolId,
    turnId,
    signal: AbortSignal.any([signal, broken.signal]),
    // Callers do not catch errors, so a broken log aborts the tool. Recording the next event then rejects.
    progress: (text) => {
      try {
        log.record({ type: "tool.updated", toolId, text });
      } catch (error) {
        broken.abort(error);
      }
    },
    // The id is derived from the request, so a program that runs again finds each of its calls in any order of completion.
    call: (name, input) => {
      const hash = hashCall(name, input);
      const count = (callCounts.get(hash) ?? 0) + 1;
      callCounts.set(hash, count);
      return runToolCall(agent, turn, step, { toolId: `${toolId}.${hash}.${count}`, name, input, parent: toolId });
    },
    catalog: snapshot.catalog,
    ask: (question, options) => turn.ask(question, options),
    putBlob: (bytes) => turn.putBlob(bytes),
    getBlob: (hash) => turn.blob(hash),
    record: async (body) => {
      log.record(body);
      await log.commit();
    },
  };
}

/**
 * Records the result without running the tool. A call that may have started before a crash and may have changed
 * something is recorded as lost, even if it would be refused now.
 */
async function settleWithoutRunning(
  callStep: CallStep,
  value: ToolResult,
  cannotHaveRun: boolean,
): Promise<ToolResult> {
  const { turn, prepared, key } = callStep;
  const settled = await turn.effects.run<ToolResult>({
    key,
    repeatable: cannotHaveRun,
    instant: true,
    started: [createStartedEvent(callStep)],
    perform: () => Promise.resolve({ value, events: [createEndedEvent(prepared.call, value)] }),
    parse: (journalled) => ToolResultSchema.parse(journalled),
    lost: () => ({ value: LOST, events: [createEndedEvent(prepared.call, LOST)] }),
  });
  return settled.value;
}

function hashCall(name: string, input: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([name, input]))
    .digest("hex")
    .slice(0, 12);
}

function createPermissionRequest({ call, spec, description }: RunnableCall): PermissionRequest {
  const { name, kind, readOnly } = spec;
  return { toolId: call.toolId, tool: name, title: description.title, kind, readOnly, input: call.input };
}

function createStartedEvent({ prepared, parent }: CallStep): EventBody {
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

function createEndedEvent({ toolId }: ToolCall, result: ToolResult): EventBody {
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
