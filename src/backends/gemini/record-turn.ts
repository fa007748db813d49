/** Converts the output of one headless Gemini CLI process to events. */

import type { JsonRecord, RecordSink, Transport } from "../../programs/index.ts";
import { readRecords } from "../../programs/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import { isUsableNativeId } from "../program/native-id.ts";
import { GeminiRecord, type GeminiResult } from "./records.ts";
import { toGeminiDiffs, toGeminiToolStart } from "./tools.ts";

/** Records between two checks whether the log has room. */
const RECORDS_PER_CHECK = 256;

export interface HeadlessResult {
  /** The final record. Undefined if the program exited before it. */
  readonly result: GeminiResult | undefined;
}

export interface HeadlessTurnOptions {
  readonly cwd: string;
  /** Called with the program's session id. */
  readonly connected: (nativeId: string) => void;
  /** Called after the final record; the program should exit now. */
  readonly finished: () => void;
}

/** Resolves when the output ends. */
export function recordHeadlessTurn(
  transport: Transport,
  turn: ProgramTurn,
  place: HeadlessTurnOptions,
): Promise<HeadlessResult> {
  const { recorder } = turn;
  return new Promise((resolve) => {
    let result: GeminiResult | undefined;
    let records = 0;
    const sink: RecordSink = {
      record: (record) => {
        const read = GeminiRecord.safeParse(record).data;
        if (read?.type === "result") result = read;
        if (read === undefined) recorder.raw(record);
        else handleRecord(read, record, turn, place);
        if (result !== undefined) place.finished();
        records += 1;
        if (records % RECORDS_PER_CHECK === 0) waitForLog(transport, turn);
      },
      text: (text) => recorder.addOutput(text),
      dropped: (what) => recorder.notice("warning", "output_dropped", `the program printed ${what}`),
      ended: () => resolve({ result }),
    };
    transport.start(readRecords(sink));
  });
}

/** Pauses reading until the log has room. The turn reports a broken log itself. */
function waitForLog(transport: Transport, turn: ProgramTurn): void {
  transport.pause();
  void turn
    .ready()
    .catch(() => undefined)
    .then(() => transport.resume());
}

function handleRecord(
  read: GeminiRecord,
  record: JsonRecord,
  turn: ProgramTurn,
  { cwd, connected }: HeadlessTurnOptions,
): void {
  const { recorder } = turn;
  switch (read.type) {
    case "init":
      if (isUsableNativeId(read.session_id)) connected(read.session_id);
      return;
    case "message":
      if (read.role !== "assistant") return; // the log already has the user's message
      return read.delta === true ? recorder.addMessageText(read.content) : recorder.endMessage(read.content);
    case "tool_use":
      return recorder.startTool(toGeminiToolStart(read.tool_id, read.tool_name, read.parameters, cwd));
    case "tool_result":
      return endTool(read, turn, cwd);
    case "error":
      return recorder.notice("warning", "agent_warning", read.message);
    case "result":
      recorder.endMessageIfAny();
      recorder.raw(record);
      return recordUsage(read, turn);
  }
}

function endTool(read: Extract<GeminiRecord, { type: "tool_result" }>, { recorder }: ProgramTurn, cwd: string): void {
  const call = recorder.tool(read.tool_id);
  const text = read.output ?? read.error?.message ?? "";
  if (read.status === "success") {
    const diffs = call === undefined ? [] : toGeminiDiffs(call.kind, call.input, cwd);
    return recorder.endTool(read.tool_id, { outcome: "ok", text, diffs });
  }
  const isRefused = /denied|policy/.test(read.error?.type ?? "");
  recorder.endTool(read.tool_id, { outcome: isRefused ? "denied" : "failed", text });
}

function recordUsage({ stats }: GeminiResult, { recorder }: ProgramTurn): void {
  if (stats === undefined) return;
  const { input_tokens: inputTokens, output_tokens, total_tokens, cached } = stats;
  const outputTokens = Math.max(output_tokens, total_tokens - inputTokens);
  recorder.usage({ inputTokens, outputTokens, ...(cached !== undefined && cached > 0 && { cacheReadTokens: cached }) });
}
