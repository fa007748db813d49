/** Answers the requests that Codex makes during a turn: approvals, user input and elicitations. */
import type { PermissionDecision } from "../../domain/index.ts";
import { OFFERED_NAME } from "../offered.ts";
import type { ProgramTurn } from "../program/index.ts";
import { formOf, inputAnswers } from "./questions.ts";
import { NotServed } from "./rpc.ts";
import { wishOfChange, wishOfCommand, wishOfMcpCall, wishOfMore, type Running, type Wish } from "./wishes.ts";
import { ChangeApproval, CommandApproval, Elicitation, MorePermissions, ToolApproval, UserInput } from "./wire.ts";

type Decision = "accept" | "decline" | "cancel";

export class Asking {
  /** Undefined between turns: every request is declined then. */
  readonly #turn: ProgramTurn | undefined;
  readonly #running: Running;
  readonly #hasOurs: boolean;
  /** Number of requests per item. Each request needs its own id, because an answer counts once. */
  readonly #times = new Map<string, number>();

  /** `hasOurs`: Codex has Rookery's MCP server, which decides about its calls itself. */
  constructor(turn: ProgramTurn | undefined, running: Running, hasOurs: boolean) {
    this.#turn = turn;
    this.#running = running;
    this.#hasOurs = hasOurs;
  }

  /** `signal` fires when Codex stops waiting. Throws `NotServed` for an unsupported method. */
  async answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case "item/commandExecution/requestApproval":
        return { decision: await this.#decide(wishOfCommand(CommandApproval.parse(params), this.#running), signal) };
      case "item/fileChange/requestApproval":
        return { decision: await this.#decide(wishOfChange(ChangeApproval.parse(params), this.#running), signal) };
      case "item/permissions/requestApproval": {
        const asked = MorePermissions.parse(params);
        const isGranted = (await this.#decide(wishOfMore(asked), signal)) === "accept";
        return { permissions: isGranted ? given(asked.permissions) : {}, scope: "turn" };
      }
      case "item/tool/requestUserInput":
        return { answers: await this.#input(UserInput.parse(params), signal) };
      case "mcpServer/elicitation/request":
        return this.#elicit(Elicitation.parse(params), signal);
      default:
        throw new NotServed(`Rookery does not support the method ${method}`);
    }
  }

  async #decide({ itemId, call, why }: Wish, signal: AbortSignal): Promise<Decision> {
    const turn = this.#turn;
    if (turn === undefined) return "decline";
    const times = (this.#times.get(itemId) ?? 0) + 1;
    this.#times.set(itemId, times);
    const id = times === 1 ? itemId : `${itemId}-${times}`;
    const title = why === undefined ? call.title : `${call.title} (${why})`;
    try {
      const decision = await turn.permit({ ...call, id, title }, { signal });
      // An approval without a running item ends as soon as it is allowed.
      if (decision.allowed && !this.#running.has(id)) turn.tell.endTool(id, { outcome: "ok", text: "allowed" });
      return wordOf(decision);
    } catch {
      return "cancel"; // the turn was cancelled, or Codex stopped waiting
    }
  }

  async #input(asked: UserInput, signal: AbortSignal): Promise<ReturnType<typeof inputAnswers>> {
    const turn = this.#turn;
    if (turn === undefined) return {};
    if (asked.questions.some(({ isSecret }) => isSecret)) {
      const message =
        "codex asked for a secret; Rookery did not ask you, because the answer would be stored in the log";
      turn.tell.notice("warning", "question_declined", message);
      return {};
    }
    const { action, content } = await turn.ask(formOf(asked), { signal });
    return action === "accept" ? inputAnswers(asked, content) : {};
  }

  /** Answers an elicitation: a question of an MCP server, or Codex's own approval of an MCP tool call. */
  async #elicit(asked: Elicitation, signal: AbortSignal): Promise<object> {
    const approval = ToolApproval.safeParse(asked._meta);
    if (approval.success && this.#hasOurs && asked.serverName === OFFERED_NAME) return elicited("accept", {});
    if (approval.success) {
      const wish = wishOfMcpCall(asked, approval.data.tool_params, this.#running);
      return elicited(await this.#decide(wish, signal), {});
    }
    const turn = this.#turn;
    if (turn === undefined) return elicited("decline");
    const { message, serverName: from, requestedSchema: schema, url } = asked;
    const what = url === undefined || url === null ? { schema } : { url };
    const { action, content } = await turn.ask({ message, from, ...what }, { signal });
    return elicited(action, content);
  }
}

/** Maps a decision: after a denial the model continues, a cancellation ends the turn. */
function wordOf(decision: PermissionDecision): Decision {
  if (decision.allowed) return "accept";
  return decision.outcome === "denied" ? "decline" : "cancel";
}

function elicited(action: Decision, content?: unknown): object {
  return { action, content: action === "accept" ? (content ?? {}) : null, _meta: null };
}

function given(permissions: object): object {
  return Object.fromEntries(Object.entries(permissions).filter(([, each]) => each !== null && each !== undefined));
}
