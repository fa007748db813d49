/** Converts the output of one headless Gemini CLI process to events. */

import type { JsonRecord, RecordSink, Transport } from "../../programs/index.ts";
import { readRecords } from "../../programs/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import { isUsableNativeId } from "../program/native-id.ts";
import { GeminiRecord, type GeminiResult } from "./records.ts";
import { diffsOf, toolStart } from "./tools.ts";

/** Records between two checks whether the log has room. */
const STRIDE = 256;

export interface Heard {
  /** The final record. Undefined if the program exited before it. */
  readonly result: GeminiResult | undefined;
}

export interface Place {
  readonly cwd: string;
  /** Called with the program's session id. */
  readonly connected: (nativeId: string) => void;
  /** Called after the final record; the program should exit now. */
  readonly finished: () => void;
}

/** Resolves when the output ends. */
export function readTurn(transport: Transport, turn: ProgramTurn, place: Place): Promise<Heard> {
  const { tell } = turn;
  return new Promise((resolve) => {
    let result: GeminiResult | undefined;
    let records = 0;
    const sink: RecordSink = {
      record: (record) => {
        const read = GeminiRecord.safeParse(record).data;
        if (read?.type === "result") result = read;
        if (read === undefined) tell.raw(record);
        else tellRecord(read, record, turn, place);
        if (result !== undefined) place.finished();
        records += 1;
        if (records % STRIDE === 0) rest(transport, turn);
      },
      text: (text) => tell.print(text),
      dropped: (what) => tell.notice("warning", "output_dropped", `the program printed ${what}`),
      ended: () => resolve({ result }),
    };
    transport.start(readRecords(sink));
  });
}

/** Pauses reading until the log has room. The turn reports a broken log itself. */
function rest(transport: Transport, turn: ProgramTurn): void {
  transport.pause();
  void turn
    .ready()
    .catch(() => undefined)
    .then(() => transport.resume());
}

function tellRecord(read: GeminiRecord, record: JsonRecord, turn: ProgramTurn, { cwd, connected }: Place): void {
  const { tell } = turn;
  switch (read.type) {
    case "init":
      if (isUsableNativeId(read.session_id)) connected(read.session_id);
      return;
    case "message":
      if (read.role !== "assistant") return; // the log already has the user's message
      return read.delta === true ? tell.say(read.content) : tell.endMessage(read.content);
    case "tool_use":
      return tell.startTool(toolStart(read.tool_id, read.tool_name, read.parameters, cwd));
    case "tool_result":
      return endTool(read, turn, cwd);
    case "error":
      return tell.notice("warning", "agent_warning", read.message);
    case "result":
      tell.endMessageIfAny();
      tell.raw(record);
      return tellUsage(read, turn);
  }
}

function endTool(read: Extract<GeminiRecord, { type: "tool_result" }>, { tell }: ProgramTurn, cwd: string): void {
  const call = tell.tool(read.tool_id);
  const text = read.output ?? read.error?.message ?? "";
  if (read.status === "success") {
    const diffs = call === undefined ? [] : diffsOf(call.kind, call.input, cwd);
    return tell.endTool(read.tool_id, { outcome: "ok", text, diffs });
  }
  const isRefused = /denied|policy/.test(read.error?.type ?? "");
  tell.endTool(read.tool_id, { outcome: isRefused ? "denied" : "failed", text });
}

function tellUsage({ stats }: GeminiResult, { tell }: ProgramTurn): void {
  if (stats === undefined) return;
  const { input_tokens: inputTokens, output_tokens: outputTokens, cached } = stats;
  tell.usage({ inputTokens, outputTokens, ...(cached !== undefined && cached > 0 && { cacheReadTokens: cached }) });
}
