/** Converts the messages of a Gemini CLI session file to events. */
import type { ImportedEvent, InputPart, ToolOutcome, TurnOutcome } from "../../domain/index.ts";
import { toImportedImage } from "../history/imported-image.ts";
import { INTERRUPTED_OUTCOME, type ImportedTurns } from "../history/imported-turns.ts";
import type { GeminiCall, GeminiMessage } from "./history-record.ts";
import { toGeminiDiffs, toGeminiToolStart } from "./tools.ts";

/** Texts in a user's message that the user did not write. */
const NOT_TYPED = /^<(session_context|state_snapshot)>/;

interface Part {
  readonly text?: unknown;
  readonly functionResponse?: unknown;
  readonly inlineData?: { readonly data?: unknown } | null;
}

export interface GeminiImportParts {
  readonly turns: ImportedTurns;
  readonly cwd: string;
  readonly putBlob: (bytes: Uint8Array) => Promise<string>;
}

export class GeminiHistoryImport {
  readonly #parts: GeminiImportParts;
  readonly #turns: ImportedTurns;
  #failure: string | undefined;
  /** Whether the agent has the last word in the turn. */
  #isAnswered = false;

  constructor(parts: GeminiImportParts) {
    this.#parts = parts;
    this.#turns = parts.turns;
  }

  async add(message: GeminiMessage): Promise<ImportedEvent[]> {
    this.#turns.setTime(message.timestamp);
    if (message.type === "user") await this.#addUser(message);
    else if (message.type === "gemini") this.#addReply(message);
    else if (message.type === "error") this.#failure = joinTexts(message.content) || "Gemini CLI failed";
    return this.#turns.take();
  }

  end(): ImportedEvent[] {
    this.#endTurn();
    return this.#turns.take();
  }

  async #addUser({ content }: GeminiMessage): Promise<void> {
    const parts = toParts(content);
    if (parts.some(({ functionResponse }) => functionResponse !== undefined)) {
      this.#isAnswered = false; // the calls of the reply have these results
      return;
    }
    const input: InputPart[] = [];
    for (const { text, inlineData } of parts) {
      if (typeof text === "string" && text !== "" && !NOT_TYPED.test(text)) input.push({ type: "text", text });
      if (inlineData == null) continue;
      const data = typeof inlineData.data === "string" ? inlineData.data : undefined;
      input.push(await toImportedImage(data, this.#parts.putBlob));
    }
    if (input.length === 0) return;
    this.#endTurn();
    this.#turns.start(input);
  }

  #addReply({ content, thoughts, toolCalls, tokens, model }: GeminiMessage): void {
    const { recorder } = this.#turns;
    for (const { subject, description } of thoughts)
      recorder.addThoughtText([subject, description].filter((text) => text != null && text !== "").join(": "));
    const text = joinTexts(content);
    if (text.trim() !== "") recorder.endMessage(text);
    for (const call of toolCalls) this.#addCall(call);
    this.#isAnswered = toolCalls.length === 0;
    this.#failure = undefined;
    if (tokens == null || tokens.input + tokens.output === 0) return;
    recorder.usage({
      ...(model != null && { model }),
      inputTokens: tokens.input + tokens.tool,
      outputTokens: tokens.output + tokens.thoughts,
      ...(tokens.cached > 0 && { cacheReadTokens: tokens.cached }),
      ...(tokens.thoughts > 0 && { reasoningTokens: tokens.thoughts }),
    });
  }

  #addCall(call: GeminiCall): void {
    const { recorder } = this.#turns;
    const start = toGeminiToolStart(call.id, call.name, call.args, this.#parts.cwd);
    recorder.startTool(start);
    if (call.result == null) return;
    const outcome = OUTCOMES[call.status ?? ""] ?? "unknown";
    const diffs = outcome === "ok" ? toGeminiDiffs(start.kind, call.args, this.#parts.cwd) : [];
    recorder.endTool(call.id, { outcome, text: readResult(call), diffs });
  }

  #endTurn(): void {
    if (!this.#turns.hasTurn) return;
    const isComplete = this.#isAnswered && !this.#turns.hasOpenTools;
    const outcome: TurnOutcome = isComplete ? { status: "done" } : INTERRUPTED_OUTCOME;
    const failed = this.#failure;
    this.#turns.end(failed === undefined ? outcome : { status: "failed", code: "agent_failed", message: failed });
    this.#failure = undefined;
    this.#isAnswered = false;
  }
}

const OUTCOMES: Readonly<Record<string, ToolOutcome>> = { success: "ok", error: "failed", cancelled: "cancelled" };

/** What the model got, or what the person saw. */
function readResult({ result, resultDisplay }: GeminiCall): string {
  const texts = toParts(result).flatMap(({ functionResponse }) => {
    const { response } = (functionResponse ?? {}) as { response?: { output?: unknown; error?: unknown } | null };
    const text = response?.output ?? response?.error;
    return typeof text === "string" ? [text] : [];
  });
  if (texts.length > 0) return texts.join("\n");
  return typeof resultDisplay === "string" ? resultDisplay : "";
}

export function joinTexts(content: unknown): string {
  return toParts(content)
    .map(({ text }) => text)
    .filter((text) => typeof text === "string")
    .join("");
}

function toParts(content: unknown): Part[] {
  if (typeof content === "string") return [{ text: content }];
  const list: unknown[] = Array.isArray(content) ? content : [content];
  return list.filter((part): part is Part => typeof part === "object" && part !== null);
}
