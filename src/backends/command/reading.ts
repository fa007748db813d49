/** Records the output of a program: JSON as raw events, its text fields as messages, everything else as output. */
import { readRecords, type Transport } from "../../programs/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import { isUsableNativeId } from "../program/native-id.ts";
import type { Recipe } from "./index.ts";
import { valueAt } from "./path.ts";

/** Lines between two checks whether the log has room. */
const STRIDE = 256;
/** Number and length of the last lines, which the error message of a failed turn includes. */
const [LAST_LINES, LINE_LENGTH] = [5, 400];

export interface Heard {
  /** Whether it printed anything, JSON or not. */
  readonly anything: boolean;
  /** The last lines that were not JSON. */
  readonly lastWords: string;
}

/** Resolves when the output ends. */
export function hear(
  transport: Transport,
  turn: Pick<ProgramTurn, "tell" | "ready">,
  { sessionPath, textPath }: Pick<Recipe, "sessionPath" | "textPath">,
  connected: (nativeId: string) => void,
): Promise<Heard> {
  const { tell } = turn;
  return new Promise((resolve) => {
    const last: string[] = [];
    let lines = 0;
    let anything = false;
    /** Waits for the log now and then. The turn reports a broken log itself. */
    const count = (): void => {
      lines += 1;
      if (lines % STRIDE !== 0) return;
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
          tell.raw(record);
          const session = sessionPath && valueAt(record, sessionPath);
          if (typeof session === "string" && isUsableNativeId(session)) connected(session);
          const text = textPath && valueAt(record, textPath);
          if (typeof text === "string") tell.say(text);
          count();
        },
        text(text) {
          anything = true;
          tell.print(text);
          last.push(text.slice(0, LINE_LENGTH));
          if (last.length > LAST_LINES) last.shift();
          count();
        },
        blank() {
          tell.print("");
          count();
        },
        dropped(what, how) {
          if (how !== "broken") tell.notice("warning", "output_dropped", `the program printed ${what}`);
        },
        ended: () => resolve({ anything, lastWords: last.join("\n").trim() }),
      },
      { wholeLines: sessionPath === undefined && textPath === undefined },
    );
    transport.start(sink);
  });
}
