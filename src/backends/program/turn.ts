/** One turn of a program: records its output and forwards its requests to the session. */
import type { AskOptions, TurnContext } from "../../domain/index.ts";
import type { AgentProcess } from "../../programs/index.ts";
import type { ReportedCall } from "../offered.ts";
import { isReading } from "../reading.ts";
import type { ProgramTurn } from "./live.ts";
import type { PromptPart } from "./prompt.ts";
import { Telling, type ToolStart } from "./telling.ts";

export interface TurnParts {
  readonly turn: TurnContext;
  readonly prompt: readonly PromptPart[];
  readonly ours: (call: ReportedCall) => string | undefined;
  /** Whether the log already has the call, because it is a call of a Rookery tool. */
  readonly isKnown: (call: ReportedCall) => boolean;
  readonly started: ProgramTurn["started"];
  readonly connected: (nativeId: string, version: string | undefined) => void;
}

export class RunningTurn implements ProgramTurn {
  readonly tell: Telling;
  readonly #parts: TurnParts;

  constructor(parts: TurnParts) {
    this.#parts = parts;
    this.tell = new Telling(parts.turn, (call) => parts.isKnown(call));
  }

  get signal(): AbortSignal {
    return this.#parts.turn.signal;
  }

  get prompt(): readonly PromptPart[] {
    return this.#parts.prompt;
  }

  ready(): Promise<void> {
    return this.#parts.turn.log.ready();
  }

  ask(...args: Parameters<TurnContext["ask"]>): ReturnType<TurnContext["ask"]> {
    return this.#parts.turn.ask(...args);
  }

  started(process: AgentProcess, command: readonly string[]): Promise<void> {
    return this.#parts.started(process, command);
  }

  connected({ nativeId, version }: Parameters<ProgramTurn["connected"]>[0]): void {
    this.#parts.connected(nativeId, version);
  }

  async permit(call: ToolStart, options?: Pick<AskOptions, "signal">): ReturnType<ProgramTurn["permit"]> {
    const { id: toolId, name: tool, title, kind, input } = call;
    this.tell.startTool(call);
    if (this.#parts.ours(call) !== undefined) return { allowed: true };
    const request = { toolId, tool, title: title || tool, kind, readOnly: isReading(kind), input: input ?? null };
    const decision = await this.#parts.turn.permit(request, options);
    if (!decision.allowed) this.tell.endTool(toolId, { outcome: decision.outcome, text: decision.message });
    return decision;
  }
}
