/** Turns the events of one session into spans: turns, model calls and tool calls. No I/O. */
import { addUsage, NO_USAGE, type EventDraft, type EventOf, type TurnOutcome, type Usage } from "../domain/index.ts";
import { cutText } from "./cut-text.ts";
import { cutContent, cutValue, describeModel, toInputMessages, toOutputMessages, usageAttributes } from "./genai.ts";
import { spanIdOf, type Span, type SpanAttributes } from "./span.ts";

export interface SessionTraceOptions {
  readonly sessionId: string;
  readonly traceId: string;
  readonly task?: string | undefined;
  /** The session whose agent started this one. */
  readonly startedBy?: string | undefined;
  readonly agent: string;
  readonly backend: string;
  readonly model?: string | undefined;
  /** Whether spans contain prompts, replies, arguments and results. */
  readonly content: boolean;
}

/** The backends whose messages are replies of a model. Only the built-in agent calls the model itself. */
const MODEL_BACKENDS = ["api", "claude-code", "codex", "gemini-cli", "opencode"];

interface OpenTurn {
  readonly id: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly start: number;
  readonly input: EventOf<"turn.started">["input"];
  /** When the model started to work. Undefined while tools run. */
  modelSince: number | undefined;
  firstChunk: number | undefined;
  /** A finished model call that waits for the report of its usage. */
  reply: Span | undefined;
  usage: Usage;
  modelCalls: number;
  lastMessage: EventOf<"message.completed"> | undefined;
  /** Running calls by the id of their span. */
  readonly tools: Map<string, OpenCall>;
}

interface OpenCall extends Pick<EventOf<"tool.started">, "kind" | "parent"> {
  readonly start: number;
  readonly name: string;
  readonly callId: string;
  /** Undefined without content. */
  readonly input: unknown;
}

/** A program may start calls that never end. More are not traced. */
const MAX_OPEN_CALLS = 1_000;
/** Names and ids of calls may come from a program. In characters. */
const MAX_NAME_LENGTH = 256;

export class SessionTrace {
  readonly #options: SessionTraceOptions;
  #agent: string;
  #model: string | undefined;
  #turn: OpenTurn | undefined;
  /** The spans of the calls that started child sessions. */
  readonly #children = new Map<string, string>();

  constructor(options: SessionTraceOptions) {
    this.#options = options;
    this.#agent = options.agent;
    this.#model = options.model;
  }

  get isTurnOpen(): boolean {
    return this.#turn !== undefined;
  }

  get traceId(): string {
    return this.#options.traceId;
  }

  get sessionId(): string {
    return this.#options.sessionId;
  }

  get task(): string | undefined {
    return this.#options.task;
  }

  get startedBy(): string | undefined {
    return this.#options.startedBy;
  }

  /** The parent of the turns of a child session: the call that started it, or else the running turn. */
  parentOfChild(sessionId: string): string | undefined {
    return this.#children.get(sessionId) ?? this.#turn?.spanId;
  }

  /** Starts a turn. Its span is a child of `parentSpanId`. */
  startTurn(event: EventOf<"turn.started">, parentSpanId: string | undefined): void {
    const { turnId = "", at, input } = event;
    const start = Date.parse(at);
    const spanId = spanIdOf("turn", this.#options.sessionId, turnId);
    this.#turn = {
      ...{ id: turnId, spanId, parentSpanId, start, input },
      ...{ modelSince: start, firstChunk: undefined, reply: undefined, lastMessage: undefined },
      ...{ usage: NO_USAGE, modelCalls: 0, tools: new Map() },
    };
  }

  /** Applies any other event of the session, and returns the spans that it ends. */
  apply(event: EventDraft): Span[] {
    if (event.type === "session.opened") this.#model = event.model ?? this.#model;
    if (event.type === "agent.switched") this.#agent = event.to;
    const turn = this.#turn;
    if (turn === undefined || event.turnId !== turn.id) return [];
    const at = Date.parse(event.at);
    switch (event.type) {
      case "message.delta":
      case "thought.delta":
        turn.firstChunk ??= at;
        return [];
      case "usage.reported":
        return this.#addUsage(turn, event);
      case "message.completed": {
        const spans = takeReply(turn);
        turn.lastMessage = event as EventOf<"message.completed">;
        turn.reply = this.#endModelCall(turn, at, { message: turn.lastMessage });
        turn.modelSince = (event.toolCalls ?? []).length > 0 ? undefined : at;
        return spans;
      }
      case "notice":
        if (event.code !== "provider_retry") return [];
        return [...takeReply(turn), ...this.#failModelCall(turn, at, "provider_retry")];
      case "tool.started": {
        const spans = takeReply(turn);
        // A program may start a call without a message. The model has then answered with that call.
        const isOfModel = event.parent === undefined && turn.tools.size === 0 && this.#options.backend !== "api";
        const call = isOfModel && turn.firstChunk !== undefined ? this.#endModelCall(turn, at) : undefined;
        turn.modelSince = undefined;
        this.#startTool(turn, event as EventOf<"tool.started">, at);
        return call === undefined ? spans : [...spans, call];
      }
      case "tool.ended": {
        const span = this.#endTool(turn, event as EventOf<"tool.ended">, at);
        if (turn.tools.size === 0) turn.modelSince = at;
        return span === undefined ? [] : [span];
      }
      case "subagent.started":
        this.#children.set(
          event.childSessionId,
          event.toolId === undefined ? turn.spanId : this.#toolSpanId(turn, event.toolId),
        );
        return [];
      case "subagent.ended":
        this.#children.delete(event.childSessionId);
        return [];
      case "turn.ended":
        return this.#endTurn(turn, event.outcome, at);
      default: // other events start and end nothing
        return [];
    }
  }

  get #described(): { provider: string; model?: string } {
    return describeModel(this.#options.backend, this.#model);
  }

  get #common(): SpanAttributes {
    const { sessionId, task } = this.#options;
    return { "gen_ai.conversation.id": sessionId, "rookery.session.id": sessionId, "rookery.task.id": task };
  }

  #addUsage(turn: OpenTurn, event: EventDraft & { type: "usage.reported" }): Span[] {
    if (event.childSessionId !== undefined) return []; // the child's own turn has it
    turn.usage = addUsage(turn.usage, event);
    if (turn.reply === undefined) return [];
    const model = event.model && cutText(event.model.slice(event.model.indexOf("/") + 1), MAX_NAME_LENGTH);
    const attributes = { ...turn.reply.attributes, ...usageAttributes(event), "gen_ai.response.model": model };
    turn.reply = { ...turn.reply, attributes };
    return takeReply(turn);
  }

  /** Ends the running model call. Undefined if the backend has no model. */
  #endModelCall(
    turn: OpenTurn,
    end: number,
    { message, errorType }: { message?: EventOf<"message.completed"> | undefined; errorType?: string } = {},
  ): Span | undefined {
    const { sessionId, traceId, backend, content } = this.#options;
    const { firstChunk, modelSince: start = firstChunk ?? end } = turn;
    turn.firstChunk = undefined;
    if (!MODEL_BACKENDS.includes(backend)) return undefined;
    turn.modelCalls += 1;
    const { provider, model } = this.#described;
    return {
      traceId,
      spanId: spanIdOf("chat", sessionId, turn.id, message?.messageId ?? end, turn.modelCalls),
      parentSpanId: turn.spanId,
      operation: "chat",
      name: model === undefined ? "chat" : `chat ${model}`,
      kind: "client",
      start: Math.min(start, end),
      end,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.request.stream": firstChunk === undefined ? undefined : true,
        "gen_ai.response.time_to_first_chunk": firstChunk === undefined ? undefined : (firstChunk - start) / 1000,
        ...this.#common,
        // A program calls the model itself. Its messages show when, but not every call.
        "rookery.inferred": backend === "api" ? undefined : true,
        "gen_ai.output.messages": content && message !== undefined ? toOutputMessages(message) : undefined,
      },
      ...(errorType !== undefined && { error: { type: errorType } }),
    };
  }

  #failModelCall(turn: OpenTurn, at: number, errorType: string): Span[] {
    const span = turn.modelSince === undefined ? undefined : this.#endModelCall(turn, at, { errorType });
    turn.modelSince = at;
    return span === undefined ? [] : [span];
  }

  #toolSpanId(turn: OpenTurn, toolId: string): string {
    return spanIdOf("tool", this.#options.sessionId, turn.id, toolId);
  }

  #startTool(turn: OpenTurn, { toolId, name, kind, parent, input }: EventOf<"tool.started">, start: number): void {
    const spanId = this.#toolSpanId(turn, toolId);
    if (turn.tools.has(spanId) || turn.tools.size >= MAX_OPEN_CALLS) return;
    turn.tools.set(spanId, {
      ...{ start, kind, parent },
      name: cutText(name, MAX_NAME_LENGTH),
      callId: cutText(toolId, MAX_NAME_LENGTH),
      input: this.#options.content ? cutValue(input) : undefined,
    });
  }

  #endTool(turn: OpenTurn, event: EventOf<"tool.ended">, end: number): Span | undefined {
    const { toolId, outcome, text } = event;
    const spanId = this.#toolSpanId(turn, toolId);
    const open = turn.tools.get(spanId);
    if (open === undefined) return undefined;
    turn.tools.delete(spanId);
    const { name, kind, callId, input, parent } = open;
    const { content, traceId } = this.#options;
    return {
      traceId,
      spanId,
      parentSpanId: parent === undefined ? turn.spanId : this.#toolSpanId(turn, parent),
      operation: "execute_tool",
      name: `execute_tool ${name}`,
      kind: "internal",
      start: Math.min(open.start, end),
      end,
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.call.id": callId,
        "gen_ai.tool.type": "function",
        ...this.#common,
        "rookery.tool.kind": kind,
        "rookery.tool.outcome": outcome,
        "gen_ai.tool.call.arguments": input as SpanAttributes[string],
        "gen_ai.tool.call.result": content ? cutContent(text) : undefined,
      },
      ...(outcome !== "ok" && { error: { type: outcome } }),
    };
  }

  #endTurn(turn: OpenTurn, outcome: TurnOutcome, end: number): Span[] {
    const spans = takeReply(turn);
    const error = describeFailure(outcome);
    if (
      error !== undefined &&
      turn.tools.size === 0 &&
      turn.lastMessage === undefined &&
      this.#isModelError(error.type)
    ) {
      spans.push(...this.#failModelCall(turn, end, error.type));
    }
    this.#turn = undefined;
    const { traceId, backend, content } = this.#options;
    const { provider, model } = this.#described;
    const hasUsage = turn.usage.inputTokens > 0 || turn.usage.outputTokens > 0;
    const { lastMessage } = turn;
    spans.push({
      traceId,
      spanId: turn.spanId,
      parentSpanId: turn.parentSpanId,
      operation: "invoke_agent",
      name: `invoke_agent ${this.#agent}`,
      kind: "internal",
      start: Math.min(turn.start, end),
      end,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": provider,
        "gen_ai.agent.name": this.#agent,
        "gen_ai.request.model": model,
        ...this.#common,
        ...(hasUsage && usageAttributes(turn.usage)),
        "rookery.turn.id": turn.id,
        "rookery.turn.outcome": outcome.status,
        "rookery.backend": backend,
        "rookery.cost.usd": hasUsage ? turn.usage.costUsd : undefined,
        "gen_ai.input.messages": content ? toInputMessages(turn.input) : undefined,
        "gen_ai.output.messages": content && lastMessage !== undefined ? toOutputMessages(lastMessage) : undefined,
      },
      ...(error !== undefined && { error: { type: error.type, ...(content && { message: error.message }) } }),
    });
    this.#children.clear();
    return spans;
  }

  #isModelError(code: string): boolean {
    return code.startsWith("provider_") || code === "context_overflow" || code === "model_not_found";
  }
}

function takeReply(turn: OpenTurn): Span[] {
  const { reply } = turn;
  turn.reply = undefined;
  return reply === undefined ? [] : [reply];
}

function describeFailure(outcome: TurnOutcome): { type: string; message: string } | undefined {
  switch (outcome.status) {
    case "failed":
      return { type: outcome.code, message: outcome.message };
    case "stalled":
      return { type: "stalled", message: outcome.message };
    case "done":
    case "cancelled":
      return undefined;
  }
}
