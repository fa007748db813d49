/** Answers Claude Code's control requests: permissions, hooks and questions. */
import { messageOf, type PermissionPolicy } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import type { Channel } from "./channel.ts";
import { askedBy, elicitationResult, elicited } from "./questions.ts";
import { recordAt, textAt } from "./reading.ts";
import { toolStart } from "./tools.ts";

/** Open requests of one program; further ones are refused. */
const ASKED_LIMIT = 200;
const NO_TURN = "No turn is running, so no tool is allowed now.";

/** Claude Code does not ask for what its own settings allow (2.1.325). These policies need a hook that asks. */
export function isStrict(permissions: PermissionPolicy): boolean {
  return permissions === "none" || permissions === "read";
}

/** Makes Claude Code send `hook_callback` before every tool call. */
export const GATED = { PreToolUse: [{ hookCallbackIds: ["gate"] }] };

export class Asking {
  readonly #channel: Channel;
  readonly #turn: () => ProgramTurn | undefined;
  readonly #asked = new Map<string, AbortController>();

  constructor(channel: Channel, turn: () => ProgramTurn | undefined) {
    this.#channel = channel;
    this.#turn = turn;
  }

  asked(record: JsonRecord): void {
    const id = textAt(record, "request_id");
    const request = recordAt(record, "request");
    if (id === undefined || request === undefined) return;
    const subtype = textAt(request, "subtype") ?? "";
    const answer = ANSWERS[subtype];
    if (answer === undefined)
      return this.#channel.refuse(id, `Rookery does not support the control request ${subtype || "without a subtype"}`);
    const turn = this.#turn();
    if (turn === undefined || this.#asked.size >= ASKED_LIMIT) return this.#channel.respond(id, answer.refusal);
    const withdrawn = new AbortController();
    this.#asked.set(id, withdrawn);
    void this.#answer(id, withdrawn.signal, () => answer.given(turn, request, withdrawn.signal)).finally(() =>
      this.#asked.delete(id),
    );
  }

  withdrawn(record: JsonRecord): void {
    this.#asked.get(textAt(record, "request_id") ?? "")?.abort(new Error("Claude Code withdrew the request"));
  }

  /** Answers a request. Claude Code withdraws its open requests itself when a turn is interrupted. */
  async #answer(id: string, withdrawn: AbortSignal, given: () => Promise<JsonRecord>): Promise<void> {
    try {
      const response = await given();
      if (!withdrawn.aborted) this.#channel.respond(id, response);
    } catch (error) {
      if (!withdrawn.aborted) this.#channel.refuse(id, messageOf(error));
    }
  }
}

interface Answering {
  readonly refusal: JsonRecord;
  given(turn: ProgramTurn, request: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
}

const ANSWERS: Readonly<Record<string, Answering>> = {
  can_use_tool: { refusal: denied(NO_TURN), given: mayUse },
  hook_callback: { refusal: stopped(NO_TURN), given: mayBegin },
  elicitation: {
    refusal: { action: "decline" },
    given: async (turn, request, signal) => elicitationResult(await turn.ask(elicited(request), { signal })),
  },
};

async function mayUse(turn: ProgramTurn, request: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
  const name = textAt(request, "tool_name") ?? "a tool";
  const input = recordAt(request, "input") ?? {};
  const call = toolStart(textAt(request, "tool_use_id") ?? textAt(request, "request_id") ?? name, name, input);
  const asked = name === "AskUserQuestion" ? askedBy(input) : undefined;
  if (asked === undefined) {
    const decision = await turn.permit(call, { signal });
    return decision.allowed ? { behavior: "allow", updatedInput: input } : denied(decision.message);
  }
  turn.tell.startTool(call);
  const { action, content } = await turn.ask(asked.question, { signal });
  if (action === "accept") return { behavior: "allow", updatedInput: asked.answered(content) };
  const text = "The user declined to answer. Continue with your best judgment, or stop and state what you need.";
  turn.tell.endTool(call.id, { outcome: "denied", text });
  return denied(text);
}

/** Decides about a tool call before it starts. Returning nothing leaves the program's own permission flow in place. */
async function mayBegin(turn: ProgramTurn, request: JsonRecord, signal: AbortSignal): Promise<JsonRecord> {
  const step = recordAt(request, "input");
  const name = textAt(step, "tool_name") ?? "a tool";
  if (name === "AskUserQuestion") return {};
  const id = textAt(step, "tool_use_id") ?? textAt(request, "tool_use_id") ?? name;
  const decision = await turn.permit(toolStart(id, name, recordAt(step, "tool_input") ?? {}), { signal });
  return decision.allowed ? {} : stopped(decision.message);
}

function stopped(permissionDecisionReason: string): JsonRecord {
  return {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason },
  };
}

function denied(message: string): JsonRecord {
  return { behavior: "deny", message };
}
