/** Selects the updates that belong to a turn, and collects their text. */
import type { ObservedMessage, CheckConnection } from "./agent/check-connection.ts";
import { isJsonObject, getObjectMember } from "../../wire/json-object.ts";

export interface TurnUpdate {
  readonly sessionId: unknown;
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** These concern the session and may come at any time. Every other kind belongs to a turn. */
const SESSION_UPDATES: readonly string[] = [
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
  "notice",
];

/** Undefined for every other message. */
export function toTurnUpdate(message: ObservedMessage): TurnUpdate | undefined {
  if (message.kind !== "notification" || message.method !== "session/update" || !isJsonObject(message.params))
    return undefined;
  const { sessionId, update } = message.params;
  if (!isJsonObject(update) || typeof update["sessionUpdate"] !== "string") return undefined;
  const kind = update["sessionUpdate"];
  return SESSION_UPDATES.includes(kind) ? undefined : { sessionId, kind, body: update };
}

const MAX_TEXT_LENGTH = 1_000_000;

/** The text of both sides, up to 1,000,000 characters each. */
export class TurnTranscript {
  #user = "";
  #agent = "";
  #messageId: unknown;
  #lastStart = 0;

  add({ kind, body }: TurnUpdate): void {
    const { text } = getObjectMember(body, "content");
    if (typeof text !== "string") return;
    if (kind === "user_message_chunk") this.#user = (this.#user + text).slice(0, MAX_TEXT_LENGTH);
    if (kind !== "agent_message_chunk") return;
    if (this.#messageId !== body["messageId"]) this.#lastStart = this.#agent.length;
    this.#messageId = body["messageId"];
    this.#agent = (this.#agent + text).slice(0, MAX_TEXT_LENGTH);
  }

  get user(): string {
    return removeWhitespace(this.#user);
  }

  get agent(): string {
    return removeWhitespace(this.#agent);
  }

  /** Only the last message: some agents send warnings as messages and do not persist them. */
  get lastOfAgent(): string {
    return removeWhitespace(this.#agent.slice(this.#lastStart));
  }
}

export interface UpdatesAroundAnswer extends Disposable {
  readonly transcriptBefore: TurnTranscript;
  /** The kind of the first turn update before the answer. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Separates a session's updates before the answer to a method from those after it, by their order on the wire. */
export function watchUpdates(peer: CheckConnection, method: string, sessionId: string): UpdatesAroundAnswer {
  const transcriptBefore = new TurnTranscript();
  let answered = false;
  let before: string | undefined;
  let after: string | undefined;
  const stopListening = peer.listen((message) => {
    answered ||= message.kind === "answer" && message.method === method;
    const update = toTurnUpdate(message);
    if (update?.sessionId !== sessionId) return;
    if (answered) after ??= update.kind;
    else before ??= update.kind;
    if (!answered) transcriptBefore.add(update);
  });
  return {
    transcriptBefore,
    get before() {
      return before;
    },
    get after() {
      return after;
    },
    [Symbol.dispose]: stopListening,
  };
}

/** Removes all whitespace: a replay may wrap lines and join messages. */
export function removeWhitespace(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
