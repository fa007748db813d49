/** Shows the login page and waits for its result. The person does not have to confirm at the terminal. */
import type { QuestionAnswer } from "../../domain/backend.ts";
import { type Io, isPersonPresent, print, printJson, printNotice } from "../io.ts";
import { canAskWithKeys } from "../questions/question-terminal.ts";
import { formatAddress } from "../run/form/ask.ts";
import { toLabel } from "../run/form/format-form.ts";
import { openBrowser } from "../open-browser.ts";
import { askLine } from "../run/ask-line.ts";
import type { AskQuestion } from "../../mcp/sessionless.ts";
import { rejectOnAbort, untilCompleted, withoutInterrupts } from "./questions.ts";

export function showLoginPage(io: Io, { json, seconds }: { json: boolean; seconds: number }): AskQuestion {
  return async ({ url = "", from = "" }, options = {}) => {
    if (json) await printJson(io, { server: from, url });
    else await print(io, [`${toLabel(from)} requires a login; open this page`, ...formatAddress(url), ""].join("\n"));
    await openBrowser(io, url);
    const wait = `waiting up to ${seconds} s for the login to finish`;
    if (isPersonPresent(io) && canAskWithKeys(io)) {
      const { waitWithKeys } = await import("../questions/ask-with-keys.ts");
      return untilCompleted(options, (signal) => withoutInterrupts(signal, () => waitWithKeys({ io }, wait, signal)));
    }
    printNotice(io, `${wait}; press Ctrl-C to give up`);
    return untilCompleted(options, (signal) =>
      isPersonPresent(io) ? waitForRefusal(io, signal) : rejectOnAbort(signal),
    );
  };
}

/** Ignores all other input, because only the page knows when the login is done. */
async function waitForRefusal(io: Io, signal: AbortSignal): Promise<QuestionAnswer> {
  for (;;) {
    const line = await askLine(io, "(type /decline to give up) ", signal);
    if (line === undefined) return rejectOnAbort(signal);
    const word = line.trim().toLowerCase();
    if (word === "/decline") return { action: "decline" };
    if (word === "/cancel") return { action: "cancel" };
  }
}
