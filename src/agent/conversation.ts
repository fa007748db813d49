/** Reads the conversation so far from the session's log, in the form that a model takes. */
import type { ConversationMessage, EventOf, InputPart, SessionEvent } from "../domain/index.ts";
import { missingAttachmentText, type CompletionMessage, type ModelCall, type ToolAnswer } from "../providers/index.ts";
import { createSummaryMessage } from "./context-size.ts";

export interface ConversationHistory {
  readonly messages: readonly CompletionMessage[];
  /** Tokens as the model last counted them, and for how many messages. Undefined if unknown. */
  readonly tokenCount: { readonly tokens: number; readonly messages: number } | undefined;
  /**
   * The ids of all calls ever made, including calls that no message mentions anymore. A permission for one call must
   * not apply to another call with the same id.
   */
  readonly callIds: ReadonlySet<string>;
}

/** The user's message of a turn that another agent continued without a prompt. */
const CONTINUE: readonly InputPart[] = [{ type: "text", text: "Continue." }];

/** Reads everything before the turn, and its input. The turn's own steps are replayed from the journal instead. */
export async function readConversation(
  { turnId, model }: { readonly turnId: string; readonly model: string },
  history: AsyncIterable<SessionEvent>,
): Promise<ConversationHistory> {
  let messages: CompletionMessage[] = [];
  let tokenCount: ConversationHistory["tokenCount"];
  const callIds = new Set<string>();
  let requested: ModelCall[] = [];
  /** The ids of the calls in `requested`. */
  let requestedIds: ReadonlySet<string> = new Set();
  let answers: ToolAnswer[] = [];
  /** Titles, by call id, of the tools that another kind of agent used. No message contains these calls. */
  const foreign = new Map<string, string>();
  /** Ids of the calls that a program made. */
  const nested = new Set<string>();
  /** Notes that wait until pending calls are answered: providers require the answers directly after the calls. */
  let notes: CompletionMessage[] = [];
  let turnStart = 0;
  let input: readonly InputPart[] = [];
  /** Input that was delivered during the turn and not answered yet. */
  let unanswered: CompletionMessage[] = [];
  /** The index of the first message that no model has answered yet, since the conversation was replaced. */
  let replacedFrom: number | undefined;
  const restartFrom = (from: CompletionMessage[]): void => {
    [requested, requestedIds, answers, notes] = [[], new Set(), [], []];
    messages = from;
    turnStart = 0;
    tokenCount = undefined;
  };

  const settle = (): void => {
    const found = new Map(answers.toReversed().map((answer) => [answer.toolId, answer])); // the first answer for an id wins
    if (requested.length > 0)
      messages.push({ role: "tool", results: requested.map((call) => findAnswer(call, found)) });
    for (const note of notes) messages.push(note);
    requested = [];
    requestedIds = new Set();
    answers = [];
    notes = [];
  };

  for await (const event of history) {
    switch (event.type) {
      case "turn.started":
        settle();
        turnStart = messages.length;
        input = event.input;
        unanswered = [];
        messages.push({ role: "user", parts: input.length === 0 ? CONTINUE : input });
        if (event.turnId === turnId) return { messages, tokenCount, callIds };
        break;
      case "input.delivered":
        settle();
        unanswered.push({ role: "user", parts: event.input });
        messages.push({ role: "user", parts: event.input });
        break;
      case "conversation.replaced":
        restartFrom(event.messages.map(toModelMessage));
        for (const { toolId } of event.messages.flatMap(listCalls)) callIds.add(toolId);
        replacedFrom = 0;
        break;
      case "context.compacted":
        restartFrom([createSummaryMessage(event.summary, input), ...unanswered]);
        replacedFrom = undefined;
        break;
      case "usage.reported":
        if (event.contextUsed === undefined || event.model !== model) break;
        tokenCount = { tokens: event.contextUsed, messages: messages.length };
        break;
      case "message.completed": {
        settle();
        unanswered = [];
        replacedFrom = undefined;
        requested = (event.toolCalls ?? []).map(({ toolId, name, input }) => ({ toolId, name, input }));
        requestedIds = new Set(requested.map(({ toolId }) => toolId));
        for (const toolId of requestedIds) callIds.add(toolId);
        if (event.text.trim() === "" && requested.length === 0) break; // no provider accepts an empty message
        messages.push({ role: "assistant", text: event.text, calls: requested, native: event.native });
        break;
      }
      case "tool.started":
        callIds.add(event.toolId);
        if (event.parent !== undefined) nested.add(event.toolId);
        else if (!requestedIds.has(event.toolId)) foreign.set(event.toolId, event.title);
        break;
      case "tool.ended": {
        if (nested.delete(event.toolId)) break; // the result of the parent call covers it
        const title = foreign.get(event.toolId);
        foreign.delete(event.toolId);
        if (title === undefined) answers.push(createAnswer(event));
        else notes.push({ role: "assistant", text: formatForeignToolUse(title, event), calls: [] });
        if (requested.length === 0) settle();
        break;
      }
      case "turn.ended":
        settle();
        if (wasRefusedByProvider(event)) {
          for (const message of messages.splice(replacedFrom ?? turnStart)) messages.push(removeBlobs(message));
        }
        break;
      default: // the model needs no other events
        break;
    }
  }
  return { messages, tokenCount, callIds };
}

/** Thoughts are left out: a model API takes only those that it signed. */
function toModelMessage(
  message: ConversationMessage,
  index: number,
  all: readonly ConversationMessage[],
): CompletionMessage {
  switch (message.role) {
    case "user":
      return { role: "user", parts: "parts" in message ? message.parts : [{ type: "text", text: message.text }] };
    case "assistant":
      return { role: "assistant", text: message.text, calls: listCalls(message) };
    case "tool": {
      const before = all[index - 1];
      const names = new Map((before === undefined ? [] : listCalls(before)).map(({ toolId, name }) => [toolId, name]));
      const results = message.results.map(({ toolId, text, outcome = "ok", blobs }): ToolAnswer => {
        const name = names.get(toolId) ?? "";
        return { toolId, name, text, failed: outcome !== "ok", ...(blobs !== undefined && { blobs }) };
      });
      return { role: "tool", results };
    }
  }
}

function listCalls(message: ConversationMessage): readonly ModelCall[] {
  return message.role === "assistant" ? (message.toolCalls ?? []) : [];
}

/** Attachments that the provider rejected, such as an invalid image, must not block every later turn. */
function wasRefusedByProvider({ outcome }: EventOf<"turn.ended">): boolean {
  return outcome.status === "failed" && outcome.code === "provider_refused";
}

function removeBlobs(message: CompletionMessage): CompletionMessage {
  switch (message.role) {
    case "user":
      return { ...message, parts: message.parts.map(replaceBlobWithText) };
    case "tool":
      return { ...message, results: message.results.map(({ blobs: _, ...answer }) => answer) };
    case "assistant":
      return message;
  }
}

function replaceBlobWithText(part: InputPart): InputPart {
  return part.type === "text" ? part : { type: "text", text: missingAttachmentText(part) };
}

const MAX_TITLE_LENGTH = 200;

/** Describes the use as text and not as a call, because this agent may not have the tool. */
function formatForeignToolUse(title: string, { outcome }: EventOf<"tool.ended">): string {
  return `(Another agent used a tool here: ${title.slice(0, MAX_TITLE_LENGTH)}. Outcome: ${outcome}.)`;
}

function createAnswer({ toolId, outcome, text, blobs }: EventOf<"tool.ended">): ToolAnswer {
  return { toolId, name: "", text, failed: outcome !== "ok", ...(blobs !== undefined && { blobs }) };
}

/** Providers reject a call without an answer, so a call that never ran is answered with that fact. */
function findAnswer({ toolId, name }: ModelCall, answers: ReadonlyMap<string, ToolAnswer>): ToolAnswer {
  const answer = answers.get(toolId);
  return answer === undefined
    ? { toolId, name, text: "not run: the turn ended first", failed: true }
    : { ...answer, name };
}
