/** Records the output of a program: JSON as raw events, its text fields as messages, everything else as output. */
import { readRecords, type Transport } from "../../programs/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import { isUsableNativeId } from "../program/native-id.ts";
import type { CommandRecipe } from "./command-recipe.ts";
import { readJsonPath } from "./json-path.ts";

/** Lines between two checks whether the log has room. */
const LINES_PER_CHECK = 256;
/** Number and length of the last lines, which the error message of a failed turn includes. */
const [LAST_LINES, LINE_LENGTH] = [5, 400];

export interface PrintedOutput {
  /** Whether it printed anything, JSON or not. */
  readonly hasOutput: boolean;
  /** The last lines that were not JSON. */
  readonly lastLines: string;
}

/** Resolves when the output ends. */
export function recordOutput(
  transport: Transport,
  turn: Pick<ProgramTurn, "recorder" | "ready">,
  { sessionPath, textPath }: Pick<CommandRecipe, "sessionPath" | "textPath">,
  connected: (nativeId: string) => void,
): Promise<PrintedOutput> {
  const { recorder } = turn;
  return new Promise((resolve) => {
    const last: string[] = [];
    let lines = 0;
    let anything = false;
    /** Waits for the log now and then. The turn reports a broken log itself. */
    const count = (): void => {
      lines += 1;
      if (lines % LINES_PER_CHECK !== 0) return;
      transport.pause();
      void turn
        .ready()
        .catch(() => undefined)
        .then(() => transport.resume());
    };
    const sink = readRecords(
      {
        record(record) {
          anything = true;
          recorder.raw(record);
          const session = sessionPath && readJsonPath(record, sessionPath);
          if (typeof session === "string" && isUsableNativeId(session)) connected(session);
          const text = textPath && readJsonPath(record, textPath);
          if (typeof text === "string") recorder.addMessageText(text);
          count();
        },
        text(text) {
          anything = true;
          recorder.addOutput(text);
          last.push(text.slice(0, LINE_LENGTH));
          if (last.length > LAST_LINES) last.shift();
          count();
        },
        blank() {
          recorder.addOutput("");
          count();
        },
        dropped(what, how) {
          if (how !== "broken") recorder.notice("warning", "output_dropped", `the program printed ${what}`);
        },
        ended: () => resolve({ hasOutput: anything, lastLines: last.join("\n").trim() }),
      },
      { wholeLines: sessionPath === undefined && textPath === undefined },
    );
    transport.start(sink);
  });
}
