/** Answers the requests that Codex makes during a turn: approvals, user input and elicitations. */
import type { PermissionDecision } from "../../domain/index.ts";
import { OFFERED_NAME } from "../offered-tools.ts";
import type { ProgramTurn } from "../program/index.ts";
import { toForm, toInputAnswers } from "./questions.ts";
import { UnsupportedMethod } from "./rpc.ts";
import {
  toChangeApproval,
  toCommandApproval,
  toMcpCallApproval,
  toPermissionApproval,
  type RunningItems,
  type ApprovalCall,
} from "./approvals.ts";
import { ChangeApproval, CommandApproval, Elicitation, MorePermissions, ToolApproval, UserInput } from "./wire.ts";

type Decision = "accept" | "decline" | "cancel";

export class CodexRequests {
  /** Undefined between turns: every request is declined then. */
  readonly #turn: ProgramTurn | undefined;
  readonly #running: RunningItems;
  readonly #hasOurs: boolean;
  /** Number of requests per item. Each request needs its own id, because an answer counts once. */
  readonly #requestCounts = new Map<string, number>();

  /** `hasOurs`: Codex has Rookery's MCP server, which decides about its calls itself. */
  constructor(turn: ProgramTurn | undefined, running: RunningItems, hasOurs: boolean) {
    this.#turn = turn;
    this.#running = running;
    this.#hasOurs = hasOurs;
  }

  /** `signal` fires when Codex stops waiting. Throws `UnsupportedMethod` for an unsupported method. */
  async answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case "item/commandExecution/requestApproval":
        return {
          decision: await this.#decide(toCommandApproval(CommandApproval.parse(params), this.#running), signal),
        };
      case "item/fileChange/requestApproval":
        return { decision: await this.#decide(toChangeApproval(ChangeApproval.parse(params), this.#running), signal) };
      case "item/permissions/requestApproval": {
        const asked = MorePermissions.parse(params);
        const isGranted = (await this.#decide(toPermissionApproval(asked), signal)) === "accept";
        return { permissions: isGranted ? removeEmptyPermissions(asked.permissions) : {}, scope: "turn" };
      }
      case "item/tool/requestUserInput":
        return { answers: await this.#askUser(UserInput.parse(params), signal) };
      case "mcpServer/elicitation/request":
        return this.#elicit(Elicitation.parse(params), signal);
      default:
        throw new UnsupportedMethod(`Rookery does not support the method ${method}`);
    }
  }

  async #decide({ itemId, call, why }: ApprovalCall, signal: AbortSignal): Promise<Decision> {
    const turn = this.#turn;
    if (turn === undefined) return "decline";
    const times = (this.#requestCounts.get(itemId) ?? 0) + 1;
    this.#requestCounts.set(itemId, times);
    const id = times === 1 ? itemId : `${itemId}-${times}`;
    const title = why === undefined ? call.title : `${call.title} (${why})`;
    try {
      const decision = await turn.permit({ ...call, id, title }, { signal });
      // An approval without a running item ends as soon as it is allowed.
      if (decision.allowed && !this.#running.has(id)) turn.recorder.endTool(id, { outcome: "ok", text: "allowed" });
      return toApprovalDecision(decision);
    } catch {
      return "cancel"; // the turn was cancelled, or Codex stopped waiting
    }
  }

  async #askUser(asked: UserInput, signal: AbortSignal): Promise<ReturnType<typeof toInputAnswers>> {
    const turn = this.#turn;
    if (turn === undefined) return {};
    if (asked.questions.some(({ isSecret }) => isSecret)) {
      const message =
        "codex asked for a secret; Rookery did not ask you, because the answer would be stored in the log";
      turn.recorder.notice("warning", "question_declined", message);
      return {};
    }
    const { action, content } = await turn.ask(toForm(asked), { signal });
    return action === "accept" ? toInputAnswers(asked, content) : {};
  }

  /** Answers an elicitation: a question of an MCP server, or Codex's own approval of an MCP tool call. */
  async #elicit(asked: Elicitation, signal: AbortSignal): Promise<object> {
    const approval = ToolApproval.safeParse(asked._meta);
    if (approval.success && this.#hasOurs && asked.serverName === OFFERED_NAME)
      return toElicitationResult("accept", {});
    if (approval.success) {
      const call = toMcpCallApproval(asked, approval.data.tool_params, this.#running);
      return toElicitationResult(await this.#decide(call, signal), {});
    }
    const turn = this.#turn;
    if (turn === undefined) return toElicitationResult("decline");
    const { message, serverName: from, requestedSchema: schema, url } = asked;
    const what = url === undefined || url === null ? { schema } : { url };
    const { action, content } = await turn.ask({ message, from, ...what }, { signal });
    return toElicitationResult(action, content);
  }
}

/** Maps a decision: after a denial the model continues, a cancellation ends the turn. */
function toApprovalDecision(decision: PermissionDecision): Decision {
  if (decision.allowed) return "accept";
  return decision.outcome === "cancelled" ? "cancel" : "decline";
}

function toElicitationResult(action: Decision, content?: unknown): object {
  return { action, content: action === "accept" ? (content ?? {}) : null, _meta: null };
}

function removeEmptyPermissions(permissions: object): object {
  return Object.fromEntries(Object.entries(permissions).filter(([, each]) => each !== null && each !== undefined));
}
