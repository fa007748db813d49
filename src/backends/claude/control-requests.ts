/** Answers Claude Code's control requests: permissions, hooks and questions. */
import { messageOf, type PermissionPolicy } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import type { ControlChannel } from "./control-channel.ts";
import { toUserQuestions, toClaudeElicitationResult, toElicitationQuestion } from "./questions.ts";
import { recordAt, textAt } from "./record-fields.ts";
import { toProposedDiffs } from "./diffs.ts";
import { toClaudeToolStart } from "./tools.ts";

/** Open requests of one program; further ones are refused. */
const MAX_OPEN_REQUESTS = 200;
const NO_TURN = "No turn is running, so no tool is allowed now.";

/** Claude Code does not ask for what its own settings allow (2.1.325). These policies need a hook that asks. */
export function isStrict(permissions: PermissionPolicy): boolean {
  return permissions === "none" || permissions === "read";
}

/** Makes Claude Code send `hook_callback` before every tool call. */
export const GATE_HOOKS = { PreToolUse: [{ hookCallbackIds: ["gate"] }] };

export class ControlRequests {
  readonly #channel: ControlChannel;
  readonly #turn: () => ProgramTurn | undefined;
  readonly #openRequests = new Map<string, AbortController>();

  constructor(channel: ControlChannel, turn: () => ProgramTurn | undefined) {
    this.#channel = channel;
    this.#turn = turn;
  }

  handleRequest(record: JsonRecord): void {
    const id = textAt(record, "request_id");
    const request = recordAt(record, "request");
    if (id === undefined || request === undefined) return;
    const subtype = textAt(request, "subtype") ?? "";
    const answer = HANDLERS[subtype];
    if (answer === undefined)
      return this.#channel.refuse(id, `Rookery does not support the control request ${subtype || "without a subtype"}`);
    const turn = this.#turn();
    if (turn === undefined || this.#openRequests.size >= MAX_OPEN_REQUESTS)
      return this.#channel.respond(id, answer.refusal);
    const handleCancel = new AbortController();
    this.#openRequests.set(id, handleCancel);
    void this.#answer(id, handleCancel.signal, () => answer.decide(turn, request, handleCancel.signal)).finally(() =>
      this.#openRequests.delete(id),
    );
  }

  withdrawRequest(record: JsonRecord): void {
    this.#openRequests.get(textAt(record, "request_id") ?? "")?.abort(new Error("Claude Code withdrew the request"));
  }

  /** Answers a request. Claude Code withdraws its open requests itself when a turn is interrupted. */
  async #answer(id: string, withdrawn: AbortSignal, decide: () => Promise<JsonRecord>): Promise<void> {
    try {
      const response = await decide();
      if (!withdrawn.aborted) this.#channel.respond(id, response);
    } catch (error) {
      if (!withdrawn.aborted) this.#channel.refuse(id, messageOf(error));
    }
  }
}

interface RequestHandler {
  readonly refusal: JsonRecord;
  decide(turn: ProgramTurn, request: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
}

const HANDLERS: Readonly<Record<string, RequestHandler>> = {
  can_use_tool: { refusal: denyTool(NO_TURN), decide: decideToolUse },
  hook_callback: { refusal: denyHook(NO_TURN), decide: decideHook },
  elicitation: {
    refusal: { action: "decline" },
    decide: async (turn, request, signal) =>
      toClaudeElicitationResult(await turn.ask(toElicitationQuestion(request), { signal })),
  },
};

async function decideToolUse(turn: ProgramTurn, request: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
  const name = textAt(request, "tool_name") ?? "a tool";
  const input = recordAt(request, "input") ?? {};
  const call = toClaudeToolStart(textAt(request, "tool_use_id") ?? textAt(request, "request_id") ?? name, name, input);
  const asked = name === "AskUserQuestion" ? toUserQuestions(input) : undefined;
  if (asked === undefined) {
    const decision = await turn.permit({ ...call, proposeDiffs: () => toProposedDiffs(name, input) }, { signal });
    return decision.allowed ? { behavior: "allow", updatedInput: input } : denyTool(decision.message);
  }
  turn.recorder.startTool(call);
  const { action, content } = await turn.ask(asked.question, { signal });
  if (action === "accept") return { behavior: "allow", updatedInput: asked.withAnswers(content) };
  const text = "The user declined to answer. Continue with your best judgment, or stop and state what you need.";
  turn.recorder.endTool(call.id, { outcome: "denied", text });
  return denyTool(text);
}

/** Decides about a tool call before it starts. Returning nothing leaves the program's own permission flow in place. */
async function decideHook(turn: ProgramTurn, request: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
  const step = recordAt(request, "input");
  const name = textAt(step, "tool_name") ?? "a tool";
  if (name === "AskUserQuestion") return {};
  const id = textAt(step, "tool_use_id") ?? textAt(request, "tool_use_id") ?? name;
  const toolInput = recordAt(step, "tool_input") ?? {};
  const call = toClaudeToolStart(id, name, toolInput);
  const decision = await turn.permit({ ...call, proposeDiffs: () => toProposedDiffs(name, toolInput) }, { signal });
  return decision.allowed ? {} : denyHook(decision.message);
}

function denyHook(permissionDecisionReason: string): JsonRecord {
  return {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason },
  };
}

function denyTool(message: string): JsonRecord {
  return { behavior: "deny", message };
}
