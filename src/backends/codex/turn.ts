/** One turn of `codex app-server`: records its notifications until the turn completes. */
import type { z } from "zod";
import type { EventOf, LimitReached, TurnOutcome } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import { CodexRequests } from "./requests.ts";
import { toCodexOutcome } from "./outcome.ts";
import { ItemRecorder } from "./item-recorder.ts";
import type { TurnUsage } from "./usage.ts";
import {
  ConfigWarning,
  Delta,
  ErrorEvent,
  Item,
  ItemEvent,
  LimitsEvent,
  PartAdded,
  NotificationScope,
  PlanEvent,
  McpProgress,
  ServerStartup,
  CodexTurnEvent,
  UsageEvent,
  Warning,
  type RateLimits,
  type TurnError,
} from "./wire.ts";

/** State of the conversation across turns. */
export interface CodexConversation {
  readonly threadId: string;
  readonly model: string | undefined;
  /** Whether the turn uses an OpenAI account. */
  readonly hasLogin: boolean;
  /** Whether Codex has Rookery's MCP server. */
  readonly hasOurs: boolean;
  readonly usage: TurnUsage;
  /** Warnings already recorded; most of them repeat in every turn. */
  readonly recordedWarnings: Set<string>;
  limits: RateLimits | undefined;
}

/** Notifications that Rookery does not use. Codex is asked not to send them, because some are long and frequent. */
export const IGNORED_NOTIFICATIONS: readonly string[] = [
  "thread/started",
  "thread/status/changed",
  "thread/readState/changed",
  "thread/goal/cleared",
  "thread/settings/updated",
  "turn/started",
  "turn/diff/updated",
  "item/fileChange/outputDelta",
  "item/fileChange/patchUpdated",
  "remoteControl/status/changed",
];
/** Notifications that become notices in the log. */
const WARNINGS = ["warning", "guardianWarning", "deprecationNotice", "configWarning"];

export class CodexTurn {
  readonly turn: ProgramTurn;
  readonly items: ItemRecorder;
  readonly requests: CodexRequests;
  readonly #conversation: CodexConversation;
  readonly #outcome = deferred<TurnOutcome | LimitReached>();
  readonly #early: [method: string, params: unknown][] = [];
  #id: string | undefined;
  #error: TurnError | undefined;

  constructor(turn: ProgramTurn, of: CodexConversation) {
    this.turn = turn;
    this.items = new ItemRecorder(turn.recorder, of.hasOurs);
    this.requests = new CodexRequests(turn, this.items.running, of.hasOurs);
    this.#conversation = of;
  }

  get outcome(): Promise<TurnOutcome | LimitReached> {
    return this.#outcome.promise;
  }

  /** Sets the id of the turn and handles the notifications that arrived before it. */
  setId(id: string): void {
    this.#id ??= id;
    for (const [method, params] of this.#early.splice(0)) this.handleNotification(method, params);
  }

  /** Handles a notification. Those of a turn wait until this turn's id is known. */
  handleNotification(method: string, params: unknown): void {
    const isEarly = this.#id === undefined && belongsToTurn(params) && this.#early.length < MAX_EARLY;
    if (isEarly) this.#early.push([method, params]);
    else if (!this.#isThisTurn(params)) this.#onForeign(method, params);
    else if (!this.#recordNotification(method, params)) this.turn.recorder.raw({ method, params });
  }

  /** Ends the turn. Only the first call counts. */
  end(outcome: TurnOutcome | LimitReached): void {
    this.items.endRunning(outcome.status === "cancelled" ? "cancelled" : "unknown");
    const usage = this.#conversation.usage.take(this.#conversation.model);
    if (usage !== undefined) this.turn.recorder.usage(usage);
    this.#outcome.resolve(outcome);
  }

  /** A resumed conversation first reports the usage of its last turn (0.166.0), which is the baseline of this one. */
  #onForeign(method: string, params: unknown): void {
    const { tokenUsage } = UsageEvent.safeParse(params).data ?? {};
    if (this.#isOfThread(params) && tokenUsage !== undefined) this.#conversation.usage.setBaseline(tokenUsage.total);
    this.turn.recorder.raw({ method, params });
  }

  /** Excludes sub-agents, which are conversations of their own, and late notifications of an earlier turn. */
  #isThisTurn(params: unknown): boolean {
    const { turnId } = NotificationScope.safeParse(params ?? {}).data ?? {};
    return this.#isOfThread(params) && (turnId ?? this.#id) === (this.#id ?? turnId);
  }

  #isOfThread(params: unknown): boolean {
    const { threadId } = NotificationScope.safeParse(params ?? {}).data ?? {};
    return (threadId ?? this.#conversation.threadId) === this.#conversation.threadId;
  }

  /** Records a notification. Returns false if it is unknown. */
  #recordNotification(method: string, params: unknown): boolean {
    const { items, turn } = this;
    switch (method) {
      case "item/agentMessage/delta":
      case "item/plan/delta":
        return useIfValid(Delta, params, ({ itemId, delta }) => items.addMessageText(itemId, delta));
      case "item/reasoning/summaryTextDelta":
      case "item/reasoning/textDelta":
        return useIfValid(Delta, params, ({ itemId, delta }) => items.addThoughtText(itemId, delta));
      case "item/reasoning/summaryPartAdded":
        return useIfValid(PartAdded, params, ({ itemId, summaryIndex }) => {
          if (summaryIndex > 0) items.addThoughtText(itemId, "\n\n");
        });
      case "item/commandExecution/outputDelta":
        return useIfValid(Delta, params, ({ itemId, delta }) => turn.recorder.addToolOutput(itemId, delta));
      case "item/mcpToolCall/progress":
        return useIfValid(McpProgress, params, ({ itemId, message }) =>
          turn.recorder.updateTool(itemId, { text: message }),
        );
      case "item/started":
        return this.#item(params, (item) => items.startItem(item));
      case "item/completed":
        return this.#item(params, (item) => items.finishItem(item));
      case "turn/plan/updated":
        return useIfValid(PlanEvent, params, ({ plan }) => turn.recorder.plan(plan.map(toPlanEntry)));
      case "thread/tokenUsage/updated":
        return useIfValid(UsageEvent, params, ({ tokenUsage }) => this.#conversation.usage.add(tokenUsage));
      case "account/rateLimits/updated":
        return useIfValid(LimitsEvent, params, ({ rateLimits }) => {
          this.#conversation.limits = rateLimits;
        });
      case "mcpServer/startupStatus/updated":
        return useIfValid(ServerStartup, params, ({ name, status, error }) => {
          if (status === "failed")
            this.#notice("mcp_failed", `codex could not start the MCP server ${name}: ${error ?? status}`);
        });
      case "error":
        return useIfValid(ErrorEvent, params, ({ error, willRetry }) => {
          if (willRetry) this.#retries(error);
          else this.#error = error;
        });
      case "turn/completed":
        return useIfValid(CodexTurnEvent, params, ({ turn: { id, status, error } }) => {
          const { limits, hasLogin } = this.#conversation;
          if (this.#id !== undefined && id !== this.#id) return; // an earlier turn
          this.end(toCodexOutcome({ status, error: error ?? this.#error, limits, hasLogin }));
        });
      default:
        return WARNINGS.includes(method) ? this.#warning(params) : IGNORED_NOTIFICATIONS.includes(method);
    }
  }

  /** Records an item. Skips the user's own message, which the log has. Returns false for an unknown kind. */
  #item(params: unknown, use: (item: Item) => void): boolean {
    const { item } = ItemEvent.safeParse(params).data ?? {};
    return (item as { type?: unknown } | undefined)?.type === "userMessage" || useIfValid(Item, item, use);
  }

  #retries({ message, additionalDetails }: TurnError): void {
    this.items.discardMessage();
    this.#notice("agent_retries", [message, ...[additionalDetails ?? []].flat()].join(": "));
  }

  #warning(params: unknown): boolean {
    const { message } = Warning.safeParse(params).data ?? {};
    const { summary, details } = ConfigWarning.safeParse(params).data ?? {};
    const words = message ?? [summary, details].flatMap((part) => part ?? []).join(": ");
    if (words === "") return false;
    this.#notice("agent_warning", words.trim());
    return true;
  }

  #notice(code: string, message: string): void {
    if (this.#conversation.recordedWarnings.has(message)) return;
    if (this.#conversation.recordedWarnings.size < MAX_RECORDED_WARNINGS)
      this.#conversation.recordedWarnings.add(message);
    this.turn.recorder.notice("warning", code, message);
  }
}

/** Notifications kept before the id of the turn is known; further ones count as this turn's. */
const MAX_EARLY = 1_000;

function belongsToTurn(params: unknown): boolean {
  return (
    typeof NotificationScope.safeParse(params).data?.turnId === "string" || CodexTurnEvent.safeParse(params).success
  );
}

/** Warnings remembered per conversation; further ones may repeat. */
const MAX_RECORDED_WARNINGS = 100;

function useIfValid<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
  use: (read: z.infer<Schema>) => void,
): boolean {
  const parsed = schema.safeParse(params);
  if (parsed.success) use(parsed.data);
  return parsed.success;
}

function toPlanEntry({ step, status }: { step: string; status: string }): EventOf<"plan.updated">["entries"][number] {
  const known = status === "inProgress" ? "in_progress" : status === "completed" ? "completed" : "pending";
  return { content: step, status: known };
}
