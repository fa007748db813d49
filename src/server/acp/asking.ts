/** Brings what an agent waits for to the person at the client, and takes it back when someone else was faster. */
import type { ClientPeer } from "../../acp/agent/index.ts";
import { ConnectionClosed } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { isRookeryError, messageOf } from "../../domain/errors.ts";
import type { EventOf } from "../../domain/events.ts";
import type { Answer } from "../../session/index.ts";
import type { Asked } from "./log-view.ts";
import { inputContent, kindOf } from "./tools.ts";

export interface AskingOptions {
  readonly sessionId: string;
  readonly client: ClientPeer;
  readonly answer: (requestId: string, answer: Answer) => Promise<void>;
  /** An answer could not be recorded. */
  readonly onBroken: (error: unknown) => void;
}

const OPTIONS: acp.PermissionOption[] = [
  { optionId: "allow", name: "Allow once", kind: "allow_once" },
  { optionId: "always", name: "Allow for this session", kind: "allow_always" },
  { optionId: "deny", name: "Reject", kind: "reject_once" },
];
const ANSWERS: Readonly<Record<string, Answer>> = {
  allow: { decision: "allow", scope: "once" },
  always: { decision: "allow", scope: "session" },
  deny: { decision: "deny" },
};
/** A question that says nothing of its answer is answered in words. */
const ANY_ANSWER = {
  type: "object",
  properties: { answer: { type: "string", title: "Answer" } },
  required: ["answer"],
};

export class Asking {
  readonly #options: AskingOptions;
  readonly #open = new Map<string, { readonly controller: AbortController; readonly ofTurn: boolean }>();

  constructor(options: AskingOptions) {
    this.#options = options;
  }

  /** What was brought up before is not asked twice. */
  ask(asked: Asked): void {
    if (this.#open.has(asked.requestId)) return;
    const controller = new AbortController();
    this.#open.set(asked.requestId, { controller, ofTurn: asked.turnId !== undefined });
    void this.#bring(asked, controller.signal);
  }

  /** Someone answered, here or elsewhere. */
  resolved(requestId: string): void {
    this.#open.get(requestId)?.controller.abort();
    this.#open.delete(requestId);
  }

  /** The turn is over or being cancelled: whatever the client says now is no answer. What no turn asked stays. */
  dismiss(): void {
    for (const { controller, ofTurn } of this.#open.values()) if (ofTurn) controller.abort();
  }

  /** Nothing more is answered here. */
  close(): void {
    for (const { controller } of this.#open.values()) controller.abort();
  }

  async #bring(asked: Asked, signal: AbortSignal): Promise<void> {
    const { answer, onBroken } = this.#options;
    try {
      const said = await this.#saidTo(asked, signal);
      if (said === undefined || signal.aborted) return;
      await answer(asked.requestId, said).catch(async (error: unknown) => {
        if (!isRookeryError(error, "input_invalid")) throw error;
        await answer(asked.requestId, { action: "cancel" }); // the client had its chance, and somebody waits
        onBroken(error);
      });
    } catch (error) {
      if (!signal.aborted && !isRookeryError(error, "request_resolved")) onBroken(error);
    }
  }

  /** Undefined where nobody can say anything now. A client that fails to ask is a no, in its own words. */
  async #saidTo(asked: Asked, signal: AbortSignal): Promise<Answer | undefined> {
    try {
      return asked.type === "permission.requested"
        ? await this.#permission(asked, signal)
        : await this.#question(asked, signal);
    } catch (error) {
      if (signal.aborted || error instanceof ConnectionClosed) return undefined;
      const message = `the client could not ask: ${messageOf(error)}`;
      return asked.type === "permission.requested" ? { decision: "deny", message } : { action: "cancel" };
    }
  }

  async #permission(asked: EventOf<"permission.requested">, signal: AbortSignal): Promise<Answer> {
    const { sessionId, client } = this.#options;
    const { toolId, title, kind, input } = asked;
    const toolCall: acp.ToolCallUpdate = {
      toolCallId: toolId,
      title,
      kind: kindOf(kind),
      status: "pending",
      rawInput: input,
      content: inputContent(input),
    };
    const { outcome } = await client.requestPermission({ sessionId, toolCall, options: OPTIONS }, { signal });
    if (outcome.outcome === "cancelled") return { decision: "deny", message: "the request was dismissed" };
    const answer = ANSWERS[outcome.optionId];
    return answer ?? { decision: "deny", message: `the client chose "${outcome.optionId}", which was not offered` };
  }

  async #question(asked: EventOf<"question.asked">, signal: AbortSignal): Promise<Answer | undefined> {
    const { sessionId, client } = this.#options;
    const { requestId, message, url, schema = ANY_ANSWER } = asked;
    const byUrl = url !== undefined;
    if (!client.offers(byUrl ? "elicitation/url" : "elicitation/form")) {
      await this.#tell(asked);
      return undefined;
    }
    const how = byUrl
      ? { mode: "url" as const, url, elicitationId: `${sessionId}/${requestId}` }
      : { mode: "form" as const, requestedSchema: schema as acp.ElicitationSchema };
    const said = await client.elicit({ sessionId, message, ...how }, { signal });
    switch (said.action) {
      case "accept":
        return { action: "accept", content: said.content ?? {} };
      case "decline":
        return { action: "decline" };
      default:
        return { action: "cancel" };
    }
  }

  async #tell({ requestId, message, ...asked }: EventOf<"question.asked">): Promise<void> {
    const { sessionId, client } = this.#options;
    const filledIn = asked.url === undefined ? " --content '{…}'" : "";
    const how = `rookery answer ${sessionId} ${requestId} accept${filledIn}`;
    const text = [message, asked.url, `Answer it in a terminal: \`${how}\``].filter((line) => line !== undefined);
    const content = { type: "text" as const, text: text.join("\n\n") };
    await client.update(sessionId, { sessionUpdate: "agent_message_chunk", content });
  }
}
