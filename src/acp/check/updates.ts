/** Which updates belong to a turn, and the text that they carry. */
import type { Heard, Peer } from "./agent/peer.ts";
import { isObject, members } from "./object.ts";

export interface Update {
  readonly sessionId: unknown;
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** These are about the session and may come at any time; every other kind is a part of a turn. */
const OF_THE_SESSION: readonly string[] = [
  "available_commands_update",
  "current_mode_update",
  "config_option_update",
  "session_info_update",
  "usage_update",
  "notice",
];

/** Undefined for whatever else the agent sent. */
export function turnUpdate(heard: Heard): Update | undefined {
  if (heard.kind !== "notification" || heard.method !== "session/update" || !isObject(heard.params)) return undefined;
  const { sessionId, update } = heard.params;
  if (!isObject(update) || typeof update["sessionUpdate"] !== "string") return undefined;
  const kind = update["sessionUpdate"];
  return OF_THE_SESSION.includes(kind) ? undefined : { sessionId, kind, body: update };
}

const LONGEST_TEXT = 1_000_000;

/** The words of both sides, as far as the limit. */
export class Words {
  #user = "";
  #agent = "";
  #messageId: unknown;
  #lastStart = 0;

  add({ kind, body }: Update): void {
    const { text } = members(body, "content");
    if (typeof text !== "string") return;
    if (kind === "user_message_chunk") this.#user = (this.#user + text).slice(0, LONGEST_TEXT);
    if (kind !== "agent_message_chunk") return;
    if (this.#messageId !== body["messageId"]) this.#lastStart = this.#agent.length;
    this.#messageId = body["messageId"];
    this.#agent = (this.#agent + text).slice(0, LONGEST_TEXT);
  }

  get user(): string {
    return withoutSpace(this.#user);
  }

  get agent(): string {
    return withoutSpace(this.#agent);
  }

  /** Without messages before it: some agents tell warnings as words of their own, which they do not keep. */
  get lastOfAgent(): string {
    return withoutSpace(this.#agent.slice(this.#lastStart));
  }
}

export interface AroundAnswer extends Disposable {
  readonly wordsBefore: Words;
  /** The kind of the first update of a turn on either side. */
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Tells a session's updates before the answer to a method from those after it, by their order on the wire. */
export function aroundAnswer(peer: Peer, method: string, sessionId: string): AroundAnswer {
  const wordsBefore = new Words();
  let answered = false;
  let before: string | undefined;
  let after: string | undefined;
  const deafen = peer.listen((heard) => {
    answered ||= heard.kind === "answer" && heard.method === method;
    const update = turnUpdate(heard);
    if (update?.sessionId !== sessionId) return;
    if (answered) after ??= update.kind;
    else before ??= update.kind;
    if (!answered) wordsBefore.add(update);
  });
  return {
    wordsBefore,
    get before() {
      return before;
    },
    get after() {
      return after;
    },
    [Symbol.dispose]: deafen,
  };
}

/** A replay may wrap lines and join messages; the words are what counts. */
export function withoutSpace(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
