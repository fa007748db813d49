/** Shows the page to log in at, and waits for what comes of it: the person need say nothing when they are back. */
import type { QuestionAnswer } from "../../domain/backend.ts";
import { type Io, isAttended, print, printJson, say } from "../io.ts";
import { addressLines } from "../run/form/ask.ts";
import { label } from "../run/form/words.ts";
import { question as askLine } from "../run/question.ts";
import { type Ask, untilCompleted } from "./desk.ts";

export function atPage(io: Io, { json, seconds }: { json: boolean; seconds: number }): Ask {
  return async ({ url = "", from = "" }, options = {}) => {
    if (json) await printJson(io, { server: from, url });
    else await print(io, [`${label(from)} wants you to log in: open this page`, ...addressLines(url), ""].join("\n"));
    say(io, `waiting up to ${seconds} s for the page to send you back here; Ctrl-C gives up`);
    return untilCompleted(options, (signal) => (isAttended(io) ? refusal(io, signal) : never(signal)));
  };
}

/** Whatever else is typed says nothing: only the page knows when it is done. */
async function refusal(io: Io, signal: AbortSignal): Promise<QuestionAnswer> {
  for (;;) {
    const line = await askLine(io, "(/decline gives up) ", signal);
    if (line === undefined) return never(signal);
    const word = line.trim().toLowerCase();
    if (word === "/decline") return { action: "decline" };
    if (word === "/cancel") return { action: "cancel" };
  }
}

function never(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}
