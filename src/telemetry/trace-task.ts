/**
 * Turns the events of one task into spans: the task from its creation to its end, its stages and its merges. No I/O.
 */
import type { TaskEvent } from "../domain/index.ts";
import { spanIdOf, traceIdOf, type Span, type SpanAttributes } from "./span.ts";

interface OpenStage {
  readonly spanId: string;
  readonly start: number;
  readonly name: string;
  readonly stage: number;
  readonly attempt: number;
  readonly sessionId?: string | undefined;
}

/**
 * A task that ends and is resumed has one span from its creation to its first end, and one for each time after that.
 */
export class TaskTrace {
  readonly #taskId: string;
  readonly #traceId: string;
  /** The event that started the current span: its creation, or the first event after its last end. */
  #begin: { readonly seq: number; readonly at: number } | undefined;
  #agent: string | undefined;
  #runs = 0;
  #stage: OpenStage | undefined;
  readonly #merges = new Map<string, number>();
  /** The `seq` of the last applied event. */
  head = 0;

  constructor(taskId: string) {
    this.#taskId = taskId;
    this.#traceId = traceIdOf(taskId);
  }

  get spanId(): string {
    return spanIdOf("task", this.#taskId, this.#begin?.seq ?? 0);
  }

  /** The parent of a turn of this session: the stage that runs it, or else the task. None if the task has ended. */
  parentOfTurn(sessionId: string): string | undefined {
    if (this.#stage?.sessionId === sessionId) return this.#stage.spanId;
    return this.#begin === undefined ? undefined : this.spanId;
  }

  /** Returns the spans that the event ends. Ignores events that were applied before. */
  apply(event: TaskEvent): Span[] {
    if (event.seq <= this.head) return [];
    this.head = event.seq;
    const at = Date.parse(event.at);
    switch (event.type) {
      case "task.created":
        this.#agent = event.spec.agent;
        this.#begin = { seq: event.seq, at };
        return [];
      case "task.queued":
        this.#begin ??= { seq: event.seq, at };
        return [];
      case "task.started":
        this.#begin ??= { seq: event.seq, at };
        this.#runs = event.run;
        return [];
      case "stage.started": {
        const { stage, attempt, name, sessionId } = event;
        const spanId = spanIdOf("stage", this.#taskId, this.#begin?.seq ?? 0, stage, attempt);
        // A stage that another process continues starts again in the log, and continues its span.
        const start = this.#stage?.spanId === spanId ? this.#stage.start : at;
        this.#stage = { spanId, start, name, stage, attempt, sessionId };
        return [];
      }
      case "stage.ended":
        return this.#endStage(event, at);
      case "merge.asked":
        this.#merges.set(event.mergeId, at);
        return [];
      case "merge.ended":
        return this.#endMerge(event, at);
      case "task.ended":
        return this.#endTask(event, at);
      default: // other events start and end nothing
        return [];
    }
  }

  #endStage({ passed }: { readonly passed: boolean }, end: number): Span[] {
    const open = this.#stage;
    this.#stage = undefined;
    if (open === undefined) return [];
    const attributes = {
      "rookery.stage.name": open.name,
      "rookery.stage.index": open.stage,
      "rookery.stage.attempt": open.attempt,
      "rookery.stage.passed": passed,
      "rookery.session.id": open.sessionId,
    };
    const error = passed ? undefined : { type: "stage_failed" };
    return [
      this.#span("stage", `stage ${open.name}`, { spanId: open.spanId, start: open.start, end, attributes, error }),
    ];
  }

  #endMerge({ mergeId, outcome }: TaskEvent & { type: "merge.ended" }, end: number): Span[] {
    const start = this.#merges.get(mergeId);
    this.#merges.delete(mergeId);
    if (start === undefined) return [];
    const isDone = outcome === "merged" || outcome === "nothing";
    const attributes = { "rookery.merge.outcome": outcome };
    const error = isDone ? undefined : { type: outcome };
    return [this.#span("merge", "merge", { spanId: spanIdOf("merge", mergeId), start, end, attributes, error })];
  }

  #endTask({ outcome, code }: TaskEvent & { type: "task.ended" }, end: number): Span[] {
    const begin = this.#begin;
    if (begin === undefined) return [];
    const stages = this.#endStage({ passed: outcome === "done" }, end);
    const attributes = {
      "gen_ai.operation.name": "invoke_workflow",
      "rookery.task.outcome": outcome,
      "rookery.task.agent": this.#agent,
      "rookery.task.runs": this.#runs,
    };
    const error = outcome === "failed" ? { type: code ?? "failed" } : undefined;
    const { spanId } = this;
    this.#begin = undefined;
    return [
      ...stages,
      this.#span("invoke_workflow", "invoke_workflow", { spanId, start: begin.at, end, attributes, error }),
    ];
  }

  #span(
    operation: Span["operation"],
    name: string,
    span: Pick<Span, "spanId" | "start" | "end" | "error"> & { readonly attributes: SpanAttributes },
  ): Span {
    return {
      ...span,
      operation,
      name,
      kind: "internal",
      traceId: this.#traceId,
      parentSpanId: operation === "invoke_workflow" ? undefined : this.spanId,
      start: Math.min(span.start, span.end),
      attributes: { ...span.attributes, "rookery.task.id": this.#taskId },
    };
  }
}
