/** What Codex asks while it works: may it, and what does the user want. */
import type { z } from "zod";
import type { PermissionDecision } from "../../domain/index.ts";
import type { ProgramTurn, ToolStart } from "../program/index.ts";
import { commandCall, startOf } from "./items.ts";
import { formOf, inputAnswers } from "./questions.ts";
import { NotServed } from "./rpc.ts";
import {
  ChangeApproval,
  CommandApproval,
  Elicitation,
  MorePermissions,
  ToolApproval,
  UserInput,
  type ItemOf,
  type ToolItem,
} from "./wire.ts";

/** What is under way in a turn: the items that were begun and have not ended, by their ids. */
export type Running = ReadonlyMap<string, ToolItem>;

export class Asking {
  /** Undefined where none runs: nobody asked it for anything, and it gets nothing. */
  readonly #turn: ProgramTurn | undefined;
  readonly #running: Running;
  /** How often was asked for an item: each is a question of its own, for an answer counts once. */
  readonly #times = new Map<string, number>();

  constructor(turn: ProgramTurn | undefined, running: Running) {
    this.#turn = turn;
    this.#running = running;
  }

  /** Throws `NotServed` for what nobody here answers. */
  async answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    switch (method) {
      case "item/commandExecution/requestApproval":
        return { decision: await this.#command(CommandApproval.parse(params)) };
      case "item/fileChange/requestApproval":
        return { decision: await this.#change(ChangeApproval.parse(params)) };
      case "item/permissions/requestApproval":
        return this.#more(MorePermissions.parse(params));
      case "item/tool/requestUserInput":
        return this.#input(UserInput.parse(params), signal);
      case "mcpServer/elicitation/request":
        return this.#elicit(Elicitation.parse(params), signal);
      default:
        throw new NotServed(`${method} is not served here`);
    }
  }

  async #command(asked: z.infer<typeof CommandApproval>): Promise<string> {
    const { itemId, command, cwd, reason, networkApprovalContext: network } = asked;
    const item = this.#running.get(itemId);
    if (network !== undefined && network !== null) {
      const title = `Reach ${network.host}`;
      return this.#decide(`${itemId}-network`, { name: "network", title, kind: "fetch", input: network });
    }
    const known = item?.type === "commandExecution" ? startOf(item) : undefined;
    const call = command === undefined || command === null ? known : commandCall(command, cwd ?? undefined);
    return this.#decide(
      itemId,
      call ?? { name: "exec_command", title: "a command", kind: "execute", input: {} },
      reason,
    );
  }

  async #change({ itemId, reason, grantRoot }: z.infer<typeof ChangeApproval>): Promise<string> {
    const item = this.#running.get(itemId);
    const call =
      item === undefined
        ? { name: "apply_patch", title: "Edit files", kind: "edit" as const, input: {} }
        : startOf(item);
    const why = grantRoot === undefined || grantRoot === null ? reason : `and everything else below ${grantRoot}`;
    return this.#decide(itemId, call, why);
  }

  /** For the turn only: what is allowed for longer is kept by the session, and not by the program. */
  async #more({ itemId, reason, permissions }: z.infer<typeof MorePermissions>): Promise<unknown> {
    const title = reason ?? "Leave the sandbox";
    const call = { name: "request_permissions", title, kind: "other" as const, input: permissions };
    const isGranted = (await this.#decide(itemId, call)) === "accept";
    const granted = Object.entries(permissions).filter(([, each]) => each !== null && each !== undefined);
    return { permissions: isGranted ? Object.fromEntries(granted) : {}, scope: "turn" };
  }

  async #decide(itemId: string, call: Omit<ToolStart, "id">, reason?: string | null): Promise<string> {
    const turn = this.#turn;
    if (turn === undefined) return "decline";
    const times = (this.#times.get(itemId) ?? 0) + 1;
    this.#times.set(itemId, times);
    const isFirst = times === 1;
    const id = isFirst ? itemId : `${itemId}-${times}`;
    const why = reason === undefined || reason === null ? "" : ` (${reason})`;
    try {
      const decision = await turn.permit({ ...call, id, title: `${call.title}${why}` });
      // What was asked for again was no tool: it is over when it is allowed.
      if (decision.allowed && !this.#running.has(id)) turn.tell.endTool(id, { outcome: "ok", text: "allowed" });
      return wordOf(decision);
    } catch {
      return "cancel"; // the turn was cancelled, and its interrupt is on the way
    }
  }

  async #input(asked: UserInput, signal: AbortSignal): Promise<unknown> {
    const turn = this.#turn;
    if (turn === undefined) return { answers: {} };
    if (asked.questions.some(({ isSecret }) => isSecret)) {
      const message = "codex asked for a secret, which would be in the log: it was told nothing";
      turn.tell.notice("warning", "question_declined", message);
      return { answers: {} };
    }
    const { action, content } = await turn.ask(formOf(asked), { signal });
    return { answers: action === "accept" ? inputAnswers(asked, content) : {} };
  }

  /** An MCP server's question to the user; also Codex's own, whether it may call a tool of that server. */
  async #elicit(asked: Elicitation, signal: AbortSignal): Promise<unknown> {
    const turn = this.#turn;
    const approval = ToolApproval.safeParse(asked._meta);
    if (approval.success) return elicited(await this.#mcpCall(asked, approval.data.tool_params), {});
    if (turn === undefined) return elicited("decline");
    const { message, serverName: from, requestedSchema: schema, mode, url } = asked;
    const isLink = mode === "url" && url !== undefined && url !== null;
    const { action, content } = await turn.ask({ message, from, ...(isLink ? { url } : { schema }) }, { signal });
    return elicited(action, content);
  }

  async #mcpCall({ serverName, message }: Elicitation, params: unknown): Promise<"accept" | "decline" | "cancel"> {
    const item = callOf(this.#running, serverName, params);
    const call =
      item === undefined
        ? { name: `mcp__${serverName}`, title: message, kind: "other" as const, input: params }
        : startOf(item);
    const decision = await this.#decide(item?.id ?? `${serverName}-${message}`, call);
    return decision === "accept" || decision === "cancel" ? decision : "decline";
  }
}

/** It is not said which call is meant: the one of this server with that input, else the latest one of the server. */
function callOf(running: Running, server: string, params: unknown): ItemOf<"mcpToolCall"> | undefined {
  const calls = [...running.values()].filter((item) => item.type === "mcpToolCall" && item.server === server);
  const input = JSON.stringify(params);
  const mcp = calls as ItemOf<"mcpToolCall">[];
  return mcp.findLast((item) => JSON.stringify(item.arguments) === input) ?? mcp.at(-1);
}

/** One that is refused lets the model go on; one that was cancelled ends the turn. */
function wordOf(decision: PermissionDecision): "accept" | "decline" | "cancel" {
  if (decision.allowed) return "accept";
  return decision.outcome === "denied" ? "decline" : "cancel";
}

function elicited(action: "accept" | "decline" | "cancel", content?: unknown): object {
  return { action, content: action === "accept" ? (content ?? {}) : null, _meta: null };
}
