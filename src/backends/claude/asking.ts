/** What Claude Code asks of whoever drives it, through the session and back in its own words. */
import { messageOf, type PermissionPolicy } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import type { Channel } from "./channel.ts";
import { askedBy, elicitationResult, elicited } from "./questions.ts";
import { recordAt, textAt } from "./reading.ts";
import { toolStart } from "./tools.ts";

/** More than a program asks at once; what is over it is refused. */
const ASKED_LIMIT = 200;
const NO_TURN = "Nobody is being served now: nothing is allowed between turns.";

/** What its own settings allow it does without asking (2.1.325), which is for the user to say; but not under these. */
export function isStrict(permissions: PermissionPolicy): boolean {
  return permissions === "none" || permissions === "read";
}

/** Has it ask with `hook_callback` before every step. */
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
    if (answer === undefined) return this.#channel.refuse(id, `nobody here can answer ${subtype || "this"}`);
    const turn = this.#turn();
    if (turn === undefined || this.#asked.size >= ASKED_LIMIT) return this.#channel.respond(id, answer.refusal);
    const withdrawn = new AbortController();
    this.#asked.set(id, withdrawn);
    void this.#answer(id, withdrawn.signal, () => answer.given(turn, request, withdrawn.signal)).finally(() =>
      this.#asked.delete(id),
    );
  }

  withdrawn(record: JsonRecord): void {
    this.#asked.get(textAt(record, "request_id") ?? "")?.abort(new Error("the program has withdrawn what it asked"));
  }

  /** What is asked in a turn that is cancelled is withdrawn by the program itself when it is interrupted. */
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
  const text = "The user does not answer this. Go on with what you think best, or stop and say what you need.";
  turn.tell.endTool(call.id, { outcome: "denied", text });
  return denied(text);
}

/** Where nothing stands against it, it goes on as it would have, and asks if it would have. */
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
