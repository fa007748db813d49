/** Converts the records of a Claude Code session file to events. Its messages and results are those of its output. */
import { newId, type ImportedEvent, type InputPart, type TurnOutcome } from "../../domain/index.ts";
import type { JsonRecord } from "../../programs/index.ts";
import { INTERRUPTED_OUTCOME, type ImportedTurns } from "../history/imported-turns.ts";
import { toImportedImage } from "../history/imported-image.ts";
import { asRecord, contentText, recordAt, recordsAt, textAt } from "./record-fields.ts";
import { ClaudeRecordHandler } from "./record-handler.ts";
import type { HistoryRecord } from "./history-record.ts";
import { addMessageTokens, readMessageTokens, type MessageTokens } from "./usage.ts";

/** What Claude Code writes as the user's message when a turn is interrupted. */
const INTERRUPTED = "[Request interrupted by user";
/** Texts in a user's record that the user did not write. */
const NOT_TYPED = /^<(local-command-|bash-stdout|bash-stderr|system-reminder|task-notification)/;

export class ClaudeHistoryImport {
  readonly #turns: ImportedTurns;
  readonly #putBlob: (bytes: Uint8Array) => Promise<string>;
  #handler: ClaudeRecordHandler | undefined;
  #outcome: TurnOutcome | undefined;
  /** Whether the agent has the last word in the turn. */
  #isAnswered = false;
  /** Tokens of the turn's API responses: model and tokens by message. The last record of a message is complete. */
  readonly #tokens = new Map<string, { readonly model: string | undefined; readonly tokens: MessageTokens }>();

  constructor(turns: ImportedTurns, putBlob: (bytes: Uint8Array) => Promise<string>) {
    this.#turns = turns;
    this.#putBlob = putBlob;
  }

  async add(record: HistoryRecord): Promise<ImportedEvent[]> {
    this.#turns.setTime(record.timestamp);
    switch (record.type) {
      case "user":
        await this.#addUser(record);
        break;
      case "assistant":
        this.#addAssistant(record);
        break;
      case "system":
        if (record.subtype === "compact_boundary" && this.#turns.hasTurn)
          this.#turns.recorder.notice("info", "context_compacted", "Claude Code compacted the conversation");
        break;
      case "attachment":
        await this.#addAttachment(record);
        break;
    }
    return this.#turns.take();
  }

  end(): ImportedEvent[] {
    this.#endTurn();
    return this.#turns.take();
  }

  async #addUser(record: HistoryRecord): Promise<void> {
    if (record.isMeta === true || record.isCompactSummary === true) return;
    const content = record.message?.content;
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : recordsAt({ content }, "content");
    if (blocks.some(({ type }) => type === "tool_result")) {
      this.#isAnswered = false;
      return this.#handlerOf().handleUser(toOutputRecord(record));
    }
    if (contentText(content).startsWith(INTERRUPTED)) {
      this.#outcome = { status: "cancelled" };
      return;
    }
    const input = await this.#toInput(blocks);
    if (input.length === 0) return;
    this.#endTurn();
    this.#turns.start(input);
    this.#isAnswered = isLocalCommand(content);
  }

  #addAssistant(record: HistoryRecord): void {
    const { message } = record;
    this.#handlerOf(); // starts a turn if a damaged file lacks the prompt
    if (record.isApiErrorMessage === true) {
      const text = contentText(message?.content);
      this.#outcome = { status: "failed", code: "agent_failed", message: text || "the model API failed" };
      return;
    }
    this.#outcome = undefined;
    this.#handlerOf().handleAssistant(toOutputRecord(record));
    this.#isAnswered = message?.stop_reason !== "tool_use";
    const tokens = readMessageTokens(asRecord(message?.usage));
    if (tokens === undefined) return;
    this.#tokens.set(message?.id ?? record.uuid ?? "", { model: message?.model ?? undefined, tokens });
  }

  /** A prompt that was typed while the turn ran is an attachment. */
  async #addAttachment({ attachment }: HistoryRecord): Promise<void> {
    if (attachment?.type !== "queued_command" || !this.#turns.hasTurn) return;
    const { prompt } = attachment;
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : recordsAt({ prompt }, "prompt");
    const input = await this.#toInput(blocks);
    if (input.length > 0) this.#turns.recorder.record({ type: "input.delivered", inputId: newId("inp"), input });
  }

  #endTurn(): void {
    if (!this.#turns.hasTurn) return;
    this.#recordUsage();
    const isComplete = this.#isAnswered && !this.#turns.hasOpenTools;
    this.#turns.end(this.#outcome ?? (isComplete ? { status: "done" } : INTERRUPTED_OUTCOME));
    this.#outcome = undefined;
    this.#handler = undefined;
    this.#isAnswered = false;
  }

  #recordUsage(): void {
    const sums = new Map<string | undefined, MessageTokens>();
    for (const { model, tokens } of this.#tokens.values()) {
      const sum = sums.get(model);
      sums.set(model, sum === undefined ? tokens : addMessageTokens(sum, tokens));
    }
    this.#tokens.clear();
    for (const [model, tokens] of sums)
      this.#turns.recorder.usage({ ...tokens, ...(model !== undefined && { model }) });
  }

  #handlerOf(): ClaudeRecordHandler {
    return (this.#handler ??= new ClaudeRecordHandler(this.#turns.recorder));
  }

  async #toInput(blocks: readonly JsonRecord[]): Promise<InputPart[]> {
    const parts: InputPart[] = [];
    for (const block of blocks) {
      if (block["type"] === "text") {
        const text = toTypedText(textAt(block, "text") ?? "");
        if (text !== "") parts.push({ type: "text", text });
      } else if (block["type"] === "image") {
        const source = recordAt(block, "source");
        parts.push(await toImportedImage(textAt(source, "data"), this.#putBlob));
      }
    }
    return parts;
  }
}

/** Returns the first line that a user typed, if the record is a prompt. */
export function readTypedText({ type, isMeta, isSidechain, message }: HistoryRecord): string | undefined {
  if (type !== "user" || isMeta === true || isSidechain === true) return undefined;
  return toTypedText(contentText(message?.content)).trim().split("\n")[0] || undefined;
}

/** The same record as Claude Code prints it, for `ClaudeRecordHandler`. */
function toOutputRecord({ message, toolUseResult }: HistoryRecord): JsonRecord {
  return { message, tool_use_result: toolUseResult };
}

/** Returns what the user typed: a command for its record, and nothing for a text that Claude Code added. */
function toTypedText(text: string): string {
  const command = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1];
  if (command !== undefined) {
    const args = /<command-args>([^<]*)<\/command-args>/.exec(text)?.[1] ?? "";
    return `${command} ${args}`.trim();
  }
  const shell = /^<bash-input>([\s\S]*)<\/bash-input>$/.exec(text.trim())?.[1];
  if (shell !== undefined) return `!${shell}`;
  return NOT_TYPED.test(text.trimStart()) ? "" : text;
}

/** Whether Claude Code itself handles the input, so that no answer of the model follows. */
function isLocalCommand(content: unknown): boolean {
  return /^\s*<(command-name|command-message|bash-input)>/.test(contentText(content));
}
