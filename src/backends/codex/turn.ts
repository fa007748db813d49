/** One turn of `codex app-server`: records its notifications until the turn completes. */
import type { z } from "zod";
import type { EventOf, LimitReached, TurnOutcome } from "../../domain/index.ts";
import { deferred } from "../../stdx/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import { Asking } from "./asking.ts";
import { outcomeOf } from "./outcome.ts";
import { Speech } from "./speech.ts";
import type { TurnUsage } from "./usage.ts";
import {
  ConfigWarning,
  Delta,
  ErrorEvent,
  Item,
  ItemEvent,
  LimitsEvent,
  PartAdded,
  Place,
  PlanEvent,
  Progress,
  ServerStartup,
  TurnEvent,
  UsageEvent,
  Warning,
  type RateLimits,
  type TurnError,
} from "./wire.ts";

/** State of the conversation across turns. */
export interface Conversation {
  readonly threadId: string;
  readonly model: string | undefined;
  /** Whether the turn uses an OpenAI account. */
  readonly hasLogin: boolean;
  /** Whether Codex has Rookery's MCP server. */
  readonly hasOurs: boolean;
  readonly usage: TurnUsage;
  /** Warnings already recorded; most of them repeat in every turn. */
  readonly told: Set<string>;
  limits: RateLimits | undefined;
}

/** Notifications that Rookery does not use. Codex is asked not to send them, because some are long and frequent. */
export const UNINTERESTING: readonly string[] = [
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
  readonly speech: Speech;
  readonly asking: Asking;
  readonly #of: Conversation;
  readonly #ended = deferred<TurnOutcome | LimitReached>();
  readonly #early: [method: string, params: unknown][] = [];
  #id: string | undefined;
  #error: TurnError | undefined;

  constructor(turn: ProgramTurn, of: Conversation) {
    this.turn = turn;
    this.speech = new Speech(turn.tell, of.hasOurs);
    this.asking = new Asking(turn, this.speech.running, of.hasOurs);
    this.#of = of;
  }

  get ended(): Promise<TurnOutcome | LimitReached> {
    return this.#ended.promise;
  }

  /** Sets the id of the turn and handles the notifications that arrived before it. */
  named(id: string): void {
    this.#id ??= id;
    for (const [method, params] of this.#early.splice(0)) this.notified(method, params);
  }

  /** Handles a notification. Those of a turn wait until this turn's id is known. */
  notified(method: string, params: unknown): void {
    const isEarly = this.#id === undefined && isOfTurn(params) && this.#early.length < MOST_EARLY;
    if (isEarly) this.#early.push([method, params]);
    else if (!this.#isOurs(params)) this.#foreign(method, params);
    else if (!this.#understood(method, params)) this.turn.tell.raw({ method, params });
  }

  /** Ends the turn. Only the first call counts. */
  end(outcome: TurnOutcome | LimitReached): void {
    this.speech.end(outcome.status === "cancelled" ? "cancelled" : "unknown");
    const usage = this.#of.usage.take(this.#of.model);
    if (usage !== undefined) this.turn.tell.usage(usage);
    this.#ended.resolve(outcome);
  }

  /** A resumed conversation first reports the usage of its last turn (0.166.0), which is the baseline of this one. */
  #foreign(method: string, params: unknown): void {
    const { tokenUsage } = UsageEvent.safeParse(params).data ?? {};
    if (this.#isOfThread(params) && tokenUsage !== undefined) this.#of.usage.start(tokenUsage.total);
    this.turn.tell.raw({ method, params });
  }

  /** Excludes sub-agents, which are conversations of their own, and late notifications of an earlier turn. */
  #isOurs(params: unknown): boolean {
    const { turnId } = Place.safeParse(params ?? {}).data ?? {};
    return this.#isOfThread(params) && (turnId ?? this.#id) === (this.#id ?? turnId);
  }

  #isOfThread(params: unknown): boolean {
    const { threadId } = Place.safeParse(params ?? {}).data ?? {};
    return (threadId ?? this.#of.threadId) === this.#of.threadId;
  }

  /** Records a notification. Returns false if it is unknown. */
  #understood(method: string, params: unknown): boolean {
    const { speech, turn } = this;
    switch (method) {
      case "item/agentMessage/delta":
      case "item/plan/delta":
        return read(Delta, params, ({ itemId, delta }) => speech.say(itemId, delta));
      case "item/reasoning/summaryTextDelta":
      case "item/reasoning/textDelta":
        return read(Delta, params, ({ itemId, delta }) => speech.think(itemId, delta));
      case "item/reasoning/summaryPartAdded":
        return read(PartAdded, params, ({ itemId, summaryIndex }) => {
          if (summaryIndex > 0) speech.think(itemId, "\n\n");
        });
      case "item/commandExecution/outputDelta":
        return read(Delta, params, ({ itemId, delta }) => turn.tell.updateTool(itemId, { text: delta }));
      case "item/mcpToolCall/progress":
        return read(Progress, params, ({ itemId, message }) => turn.tell.updateTool(itemId, { text: message }));
      case "item/started":
        return this.#item(params, (item) => speech.begin(item));
      case "item/completed":
        return this.#item(params, (item) => speech.finish(item));
      case "turn/plan/updated":
        return read(PlanEvent, params, ({ plan }) => turn.tell.plan(plan.map(entryOf)));
      case "thread/tokenUsage/updated":
        return read(UsageEvent, params, ({ tokenUsage }) => this.#of.usage.add(tokenUsage));
      case "account/rateLimits/updated":
        return read(LimitsEvent, params, ({ rateLimits }) => {
          this.#of.limits = rateLimits;
        });
      case "mcpServer/startupStatus/updated":
        return read(ServerStartup, params, ({ name, status, error }) => {
          if (status === "failed")
            this.#notice("mcp_failed", `codex could not start the MCP server ${name}: ${error ?? status}`);
        });
      case "error":
        return read(ErrorEvent, params, ({ error, willRetry }) => {
          if (willRetry) this.#retries(error);
          else this.#error = error;
        });
      case "turn/completed":
        return read(TurnEvent, params, ({ turn: { id, status, error } }) => {
          const { limits, hasLogin } = this.#of;
          if (this.#id !== undefined && id !== this.#id) return; // an earlier turn
          this.end(outcomeOf({ status, error: error ?? this.#error, limits, hasLogin }));
        });
      default:
        return WARNINGS.includes(method) ? this.#warning(params) : UNINTERESTING.includes(method);
    }
  }

  /** Records an item. Skips the user's own message, which the log has. Returns false for an unknown kind. */
  #item(params: unknown, tell: (item: Item) => void): boolean {
    const { item } = ItemEvent.safeParse(params).data ?? {};
    return (item as { type?: unknown } | undefined)?.type === "userMessage" || read(Item, item, tell);
  }

  #retries({ message, additionalDetails }: TurnError): void {
    this.speech.beginAnew();
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
    if (this.#of.told.has(message)) return;
    if (this.#of.told.size < MOST_TOLD) this.#of.told.add(message);
    this.turn.tell.notice("warning", code, message);
  }
}

/** Notifications kept before the id of the turn is known; further ones count as this turn's. */
const MOST_EARLY = 1_000;

function isOfTurn(params: unknown): boolean {
  return typeof Place.safeParse(params).data?.turnId === "string" || TurnEvent.safeParse(params).success;
}

/** Warnings remembered per conversation; further ones may repeat. */
const MOST_TOLD = 100;

function read<Schema extends z.ZodType>(
  schema: Schema,
  params: unknown,
  use: (read: z.infer<Schema>) => void,
): boolean {
  const parsed = schema.safeParse(params);
  if (parsed.success) use(parsed.data);
  return parsed.success;
}

function entryOf({ step, status }: { step: string; status: string }): EventOf<"plan.updated">["entries"][number] {
  const known = status === "inProgress" ? "in_progress" : status === "completed" ? "completed" : "pending";
  return { content: step, status: known };
}
