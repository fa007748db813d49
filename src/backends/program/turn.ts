/** One turn of a program: records its output and forwards its requests to the session. */
import { boundFileDiffs } from "../../domain/file-diff.ts";
import { type AskOptions, type TurnContext } from "../../domain/index.ts";
import type { AgentProcess } from "../../programs/index.ts";
import type { ReportedCall } from "../offered-tools.ts";
import { isReadOnlyKind } from "../read-only-kinds.ts";
import type { ProgramTurn } from "./agent-program.ts";
import type { PromptPart } from "./prompt.ts";
import { TurnRecorder, type ToolStart } from "./turn-recorder.ts";

export interface ProgramTurnParts {
  readonly turn: TurnContext;
  readonly prompt: readonly PromptPart[];
  readonly findOfferedTool: (call: ReportedCall) => string | undefined;
  readonly isKnownCall: (call: ReportedCall) => boolean;
  readonly started: ProgramTurn["started"];
  readonly connected: (nativeId: string, version: string | undefined) => void;
}

export class RunningProgramTurn implements ProgramTurn {
  readonly recorder: TurnRecorder;
  readonly #parts: ProgramTurnParts;

  constructor(parts: ProgramTurnParts) {
    this.#parts = parts;
    this.recorder = new TurnRecorder(parts.turn, (call) => parts.isKnownCall(call));
  }

  get context(): TurnContext {
    return this.#parts.turn;
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

  findOfferedTool(call: ReportedCall): string | undefined {
    return this.#parts.findOfferedTool(call);
  }

  isKnownCall(call: ReportedCall): boolean {
    return this.#parts.isKnownCall(call);
  }

  async permit(call: ToolStart, options?: Pick<AskOptions, "signal">): ReturnType<ProgramTurn["permit"]> {
    const { id: toolId, name: tool, title, kind, input, proposeDiffs } = call;
    this.recorder.startTool(call);
    if (this.findOfferedTool(call) !== undefined) return { allowed: true };
    const request = { toolId, tool, title: title || tool, kind, readOnly: isReadOnlyKind(kind), input: input ?? null };
    const preview = async () => ({ diffs: boundFileDiffs(proposeDiffs?.() ?? []) });
    const decision = await this.#parts.turn.permit({ ...request, preview }, options);
    if (!decision.allowed) this.recorder.endTool(toolId, { outcome: decision.outcome, text: decision.message });
    return decision;
  }
}
