/** The conversation so far, as a model wants it, read from the session's log. */
import type { EventOf, InputPart, SessionEvent } from "../domain/index.ts";
import { missingAttachmentText, type Message, type ModelCall, type ToolAnswer } from "../providers/index.ts";
import { afterSummary } from "./context.ts";

export interface Conversation {
  readonly messages: readonly Message[];
  /** Tokens as the model last counted them, and how many of the messages that was; undefined where it is not known. */
  readonly counted: { readonly tokens: number; readonly messages: number } | undefined;
  /** Of all calls that were ever made, also of those that no message tells of any more: what was allowed of one is not to be taken for another. */
  readonly callIds: ReadonlySet<string>;
}

/** Everything before the turn, and its input; what the turn itself did is replayed from the journal instead. */
export async function readConversation(
  { turnId, model }: { readonly turnId: string; readonly model: string },
  history: AsyncIterable<SessionEvent>,
): Promise<Conversation> {
  let messages: Message[] = [];
  let counted: Conversation["counted"];
  const callIds = new Set<string>();
  let asked: ModelCall[] = [];
  /** Of the calls in `asked`. */
  let askedIds: ReadonlySet<string> = new Set();
  let answers: ToolAnswer[] = [];
  /** Tools that another kind of agent used by itself, by their titles: no message asked for them. */
  const foreign = new Map<string, string>();
  /** Calls that a program made. */
  const nested = new Set<string>();
  /** What is said of them while calls wait: providers want the answers right behind the calls. */
  let notes: Message[] = [];
  let turnBegan = 0;
  let input: readonly InputPart[] = [];
  /** Said in the turn, and not answered yet. */
  let heard: Message[] = [];
  const beginAnew = (from: Message[]): void => {
    [asked, askedIds, answers, notes] = [[], new Set(), [], []];
    messages = from;
    turnBegan = 0;
    counted = undefined;
  };

  const settle = (): void => {
    const found = new Map(answers.toReversed().map((answer) => [answer.toolId, answer])); // the first counts
    if (asked.length > 0) messages.push({ role: "tool", results: asked.map((call) => answerTo(call, found)) });
    for (const note of notes) messages.push(note);
    asked = [];
    askedIds = new Set();
    answers = [];
    notes = [];
  };

  for await (const event of history) {
    switch (event.type) {
      case "turn.started":
        settle();
        turnBegan = messages.length;
        input = event.input;
        heard = [];
        messages.push({ role: "user", parts: input });
        if (event.turnId === turnId) return { messages, counted, callIds };
        break;
      case "input.delivered":
        settle();
        heard.push({ role: "user", parts: event.input });
        messages.push({ role: "user", parts: event.input });
        break;
      case "conversation.replaced":
        beginAnew(event.messages.map(given));
        break;
      case "context.compacted":
        beginAnew([afterSummary(event.summary, input), ...heard]);
        break;
      case "usage.reported":
        if (event.contextUsed === undefined || event.model !== model) break;
        counted = { tokens: event.contextUsed, messages: messages.length };
        break;
      case "message.completed": {
        settle();
        heard = [];
        asked = (event.toolCalls ?? []).map(({ toolId, name, input }) => ({ toolId, name, input }));
        askedIds = new Set(asked.map(({ toolId }) => toolId));
        for (const toolId of askedIds) callIds.add(toolId);
        if (event.text.trim() === "" && asked.length === 0) break; // no provider takes an empty message back
        messages.push({ role: "assistant", text: event.text, calls: asked, native: event.native });
        break;
      }
      case "tool.started":
        callIds.add(event.toolId);
        if (event.parent !== undefined) nested.add(event.toolId);
        else if (!askedIds.has(event.toolId)) foreign.set(event.toolId, event.title);
        break;
      case "tool.ended": {
        if (nested.delete(event.toolId)) break; // told by the call that made it
        const title = foreign.get(event.toolId);
        foreign.delete(event.toolId);
        if (title === undefined) answers.push(answerOf(event));
        else notes.push({ role: "assistant", text: toolNote(title, event), calls: [] });
        if (asked.length === 0) settle();
        break;
      }
      case "turn.ended":
        settle();
        if (wasRefused(event)) for (const message of messages.splice(turnBegan)) messages.push(withoutBytes(message));
        break;
      default: // of the rest the model needs to know nothing
        break;
    }
  }
  return { messages, counted, callIds };
}

function given({ role, text }: { role: "user" | "assistant"; text: string }): Message {
  return role === "user" ? { role, parts: [{ type: "text", text }] } : { role, text, calls: [] };
}

/** What a turn was refused for (an image that is none) must not stand in the way of every later one. */
function wasRefused({ outcome }: EventOf<"turn.ended">): boolean {
  return outcome.status === "failed" && outcome.code === "provider_refused";
}

function withoutBytes(message: Message): Message {
  switch (message.role) {
    case "user":
      return { ...message, parts: message.parts.map(inWords) };
    case "tool":
      return { ...message, results: message.results.map(({ blobs: _, ...answer }) => answer) };
    case "assistant":
      return message;
  }
}

function inWords(part: InputPart): InputPart {
  return part.type === "text" ? part : { type: "text", text: missingAttachmentText(part) };
}

const TITLE_LENGTH = 200;

/** In words and not as a call, for it is of a tool that this agent may not have. */
function toolNote(title: string, { outcome }: EventOf<"tool.ended">): string {
  return `(Another agent used a tool here: ${title.slice(0, TITLE_LENGTH)}. Outcome: ${outcome}.)`;
}

function answerOf({ toolId, outcome, text, blobs }: EventOf<"tool.ended">): ToolAnswer {
  return { toolId, name: "", text, failed: outcome !== "ok", ...(blobs !== undefined && { blobs }) };
}

/** Providers refuse a call without its answer, so a call that was never run is answered with just that. */
function answerTo({ toolId, name }: ModelCall, answers: ReadonlyMap<string, ToolAnswer>): ToolAnswer {
  const answer = answers.get(toolId);
  return answer === undefined
    ? { toolId, name, text: "not run: the turn ended before", failed: true }
    : { ...answer, name };
}
