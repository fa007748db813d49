/** Forwards pending permission requests and questions to the ACP client, and withdraws those answered elsewhere. */
import type { ClientPeer } from "../../acp/agent/index.ts";
import { ConnectionClosed } from "../../acp/errors.ts";
import type * as acp from "../../acp/schema.ts";
import { suggestCommandPrefix } from "../../domain/command-prefix.ts";
import { isRookeryError, messageOf } from "../../domain/errors.ts";
import type { EventOf } from "../../domain/events.ts";
import { closeOpenChoices } from "../../domain/form-fields.ts";
import type { Answer } from "../../session/index.ts";
import type { AcpPendingRequest } from "./log-view.ts";
import { toAcpToolKind, toDiffLocations, toLocations, toReviewContent } from "./tools.ts";

export interface RequestForwarderOptions {
  readonly sessionId: string;
  readonly client: ClientPeer;
  /** The working directory of the session. */
  readonly cwd: () => string;
  readonly answer: (requestId: string, answer: Answer) => Promise<void>;
  /** Called if an answer cannot be recorded. */
  readonly onFailure: (error: unknown) => void;
}

/** `prefix`: the first words of the command that can be allowed for the session, before the whole tool. */
function listOptions(tool: string, prefix: string | undefined): acp.PermissionOption[] {
  const always = prefix === undefined ? "Allow for this session" : `Allow every ${tool} for this session`;
  return [
    { optionId: "allow", name: "Allow once", kind: "allow_once" },
    ...(prefix === undefined
      ? []
      : [{ optionId: "always_prefix", name: `Allow "${prefix} …" for this session`, kind: "allow_always" as const }]),
    { optionId: "always", name: always, kind: "allow_always" },
    { optionId: "deny", name: "Reject", kind: "reject_once" },
  ];
}

function toOptionAnswer(optionId: string, prefix: string | undefined): Answer {
  if (optionId === "allow") return { decision: "allow", scope: "once" };
  if (optionId === "always") return { decision: "allow", scope: "session" };
  if (optionId === "always_prefix" && prefix !== undefined) return { decision: "allow", scope: "session", prefix };
  if (optionId === "deny") return { decision: "deny" };
  return { decision: "deny", message: `the client selected "${optionId}", which is not one of the options` };
}

/** The form of a question without a schema: a single text field. */
const ANY_ANSWER = {
  type: "object",
  properties: { answer: { type: "string", title: "Answer" } },
  required: ["answer"],
};

export class RequestForwarder {
  readonly #options: RequestForwarderOptions;
  readonly #open = new Map<string, { readonly controller: AbortController; readonly belongsToTurn: boolean }>();

  constructor(options: RequestForwarderOptions) {
    this.#options = options;
  }

  /** Does nothing if the request is already open in the client. */
  forward(request: AcpPendingRequest): void {
    if (this.#open.has(request.requestId)) return;
    const controller = new AbortController();
    this.#open.set(request.requestId, { controller, belongsToTurn: request.turnId !== undefined });
    void this.#forward(request, controller.signal);
  }

  /** Call this when the request has been answered, here or elsewhere. */
  withdraw(requestId: string): void {
    this.#open.get(requestId)?.controller.abort();
    this.#open.delete(requestId);
  }

  /** Ignores later answers to requests of the turn that ended or is being cancelled. Keeps other requests open. */
  dismissTurn(): void {
    for (const { controller, belongsToTurn } of this.#open.values()) if (belongsToTurn) controller.abort();
  }

  /** Aborts all open requests. */
  close(): void {
    for (const { controller } of this.#open.values()) controller.abort();
  }

  async #forward(request: AcpPendingRequest, signal: AbortSignal): Promise<void> {
    const { answer, onFailure } = this.#options;
    try {
      const response = await this.#requestAnswer(request, signal);
      if (response === undefined || signal.aborted) return;
      await answer(request.requestId, response).catch(async (error: unknown) => {
        if (!isRookeryError(error, "input_invalid")) throw error;
        await answer(request.requestId, { action: "cancel" }); // the agent waits for some answer
        onFailure(error);
      });
    } catch (error) {
      if (!signal.aborted && !isRookeryError(error, "request_resolved")) onFailure(error);
    }
  }

  /** Undefined if there is no answer. An error of the client denies the request, with the error as the reason. */
  async #requestAnswer(request: AcpPendingRequest, signal: AbortSignal): Promise<Answer | undefined> {
    try {
      return request.type === "permission.requested"
        ? await this.#requestPermission(request, signal)
        : await this.#askQuestion(request, signal);
    } catch (error) {
      if (signal.aborted || error instanceof ConnectionClosed) return undefined;
      const message = `the client could not show the request: ${messageOf(error)}`;
      return request.type === "permission.requested" ? { decision: "deny", message } : { action: "cancel" };
    }
  }

  async #requestPermission(request: EventOf<"permission.requested">, signal: AbortSignal): Promise<Answer> {
    const { sessionId, client } = this.#options;
    const { toolId, title, kind, input, diffs } = request;
    const cwd = this.#options.cwd();
    const toolCall: acp.ToolCallUpdate = {
      toolCallId: toolId,
      title,
      kind: toAcpToolKind(kind),
      status: "pending",
      rawInput: input,
      content: toReviewContent(request, cwd),
      ...toLocations(toDiffLocations(diffs ?? []), cwd),
    };
    const prefix = suggestCommandPrefix(request);
    const options = listOptions(request.tool, prefix);
    const { outcome } = await client.requestPermission({ sessionId, toolCall, options }, { signal });
    if (outcome.outcome === "cancelled") return { decision: "deny", message: "the user dismissed the request" };
    return toOptionAnswer(outcome.optionId, prefix);
  }

  async #askQuestion(request: EventOf<"question.asked">, signal: AbortSignal): Promise<Answer | undefined> {
    const { sessionId, client } = this.#options;
    const { requestId, message, url, schema = ANY_ANSWER } = request;
    const byUrl = url !== undefined;
    if (!client.offers(byUrl ? "elicitation/url" : "elicitation/form")) {
      await this.#showInstructions(request);
      return undefined;
    }
    const how = byUrl
      ? { mode: "url" as const, url, elicitationId: `${sessionId}/${requestId}` }
      : { mode: "form" as const, requestedSchema: closeOpenChoices(schema) as acp.ElicitationSchema };
    const response = await client.elicit({ sessionId, message, ...how }, { signal });
    switch (response.action) {
      case "accept":
        return { action: "accept", content: response.content ?? {} };
      case "decline":
        return { action: "decline" };
      default:
        return { action: "cancel" };
    }
  }

  async #showInstructions({ requestId, message, ...request }: EventOf<"question.asked">): Promise<void> {
    const { sessionId, client } = this.#options;
    const contentFlag = request.url === undefined ? " --content '{…}'" : "";
    const command = `rookery answer ${sessionId} ${requestId} accept${contentFlag}`;
    const text = [message, request.url, `To answer, run in a terminal: \`${command}\``].filter(
      (line) => line !== undefined,
    );
    const content = { type: "text" as const, text: text.join("\n\n") };
    await client.update(sessionId, { sessionUpdate: "agent_message_chunk", content });
  }
}
