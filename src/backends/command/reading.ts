/** Tells what a program prints: JSON as its own events, and what it finds there as said; all else as it is. */
import { readRecords, type Transport } from "../../programs/index.ts";
import type { ProgramTurn } from "../program/index.ts";
import { isUsableNativeId } from "../program/native-id.ts";
import type { Recipe } from "./index.ts";
import { valueAt } from "./path.ts";

/** How many lines are told before the log is asked whether it has room. */
const STRIDE = 256;
/** How many of its last lines are kept, and of each so much, for saying why it failed. */
const [LAST_LINES, LINE_LENGTH] = [5, 400];

export interface Heard {
  /** Has it printed anything, JSON or not? */
  readonly anything: boolean;
  /** The last that it printed beside JSON. */
  readonly lastWords: string;
}

/** Resolves when nothing more comes. */
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
    /** A log that is broken is told by the turn itself. */
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
