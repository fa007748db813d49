/** Asks the person at this terminal to answer requests, one at a time, or prints how to answer them elsewhere. */
import { isRookeryError } from "../../domain/errors.ts";
import { shortId } from "../../domain/ids.ts";
import type { Answer } from "../../session/method-types.ts";
import { formatDiffs } from "../diff/format-diff.ts";
import { choosePager, openPager } from "../diff/pager.ts";
import { formatCount } from "../format.ts";
import { type Io, hasColor, printNotice } from "../io.ts";
import { ansiPaint, plainPaint } from "../paint.ts";
import { toSingleLine } from "../sanitize.ts";
import { type PendingRequest, formatRequestDetails, formatRequester, formatRequestSubject } from "./pending-request.ts";
import { suggestAnswers } from "../inbox/answer-text.ts";
import { askQuestion } from "./form/ask.ts";
import { askLine } from "./ask-line.ts";

export interface PrompterOptions {
  readonly io: Io;
  readonly sessionId: string;
  /** True if a person is at this terminal. */
  readonly atTerminal: boolean;
  readonly answer: (requestId: string, answer: Answer) => Promise<void>;
  /** Called with true before a question and with false after it. */
  readonly onBusy: (busy: boolean) => void;
}

/** Number of lines that fit on a small screen. */
const MAX_VISIBLE_LINES = 20;

export class RequestPrompter implements AsyncDisposable {
  readonly #options: PrompterOptions;
  readonly #open = new Map<string, AbortController>();
  #last: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(options: PrompterOptions) {
    this.#options = options;
  }

  /** Does nothing for a request that was already asked. */
  ask(asked: PendingRequest): void {
    if (this.#open.has(asked.requestId)) return;
    const controller = new AbortController();
    this.#open.set(asked.requestId, controller);
    if (!this.#options.atTerminal) this.#tell(asked);
    else this.#last = this.#last.then(() => this.#askHere(asked, controller.signal));
  }

  /** Call it when a request was answered, here or elsewhere. */
  resolved(requestId: string): void {
    this.#open.get(requestId)?.abort();
  }

  /** Stops asking. Rejects with the first error of an answer. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const controller of this.#open.values()) controller.abort();
    await this.#last;
    if (this.#failure !== undefined) throw this.#failure as Error;
  }

  #tell(asked: PendingRequest): void {
    const { io, sessionId } = this.#options;
    const { question } = asked;
    const kind = question === undefined ? "permission" : "question";
    const [answer = ""] = suggestAnswers({ kind, schema: question?.schema, url: question?.url });
    const how = `answer with: rookery answer ${shortId(sessionId)} ${asked.requestId} ${answer}`;
    printNotice(io, `waiting for ${formatRequestSubject(asked)}:`, [...formatRequestDetails(asked), how]);
  }

  async #askHere(asked: PendingRequest, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#options.onBusy(true);
    try {
      const answer = await this.#asked(asked, signal);
      await this.#options.answer(asked.requestId, answer);
    } catch (error) {
      if (!signal.aborted && !isRookeryError(error, "request_resolved")) this.#failure ??= error;
    } finally {
      this.#options.onBusy(false);
    }
  }

  #asked(asked: PendingRequest, signal: AbortSignal): Promise<Answer> {
    const { question } = asked;
    return question === undefined ? this.#decision(asked, signal) : askQuestion(this.#options.io, question, signal);
  }

  /** Prints all details again after the pager, because they may have scrolled away, but not after a wrong answer. */
  async #decision(asked: PendingRequest, signal: AbortSignal): Promise<Answer> {
    const { io } = this.#options;
    const { diffs = [] } = asked;
    const tool = toSingleLine(asked.tool ?? "", 100);
    const pager = choosePager(io.env);
    const paint = hasColor({ env: io.env, stdout: io.stderr }) ? ansiPaint : plainPaint;
    const hint = `d opens them in ${toSingleLine(pager, 60)}`;
    const lines = formatRequestDetails(asked, { paint, columns: io.stderr.columns, hint });
    const isFolded = lines.some((line) => line.endsWith(hint));
    const isLong = !isFolded && lines.length > MAX_VISIBLE_LINES;
    const many = isLong ? `, all ${formatCount(lines.length)} lines above` : "";
    const whose = formatRequester(asked.from);
    const choices = ["[y]es", `[a]lways ${tool} in this session`, "[n]o", ...(isFolded ? ["[d]iff"] : [])];
    const ask = `Allow ${tool}${whose}${many}? ${choices.join(", ")} `;
    const whole = [`${tool}${whose}:`, ...lines, ask].join("\n");
    for (let shown = whole; ;) {
      const typed = await askLine(io, shown, signal);
      shown = whole;
      if (diffs.length > 0 && ["d", "diff"].includes(typed?.trim().toLowerCase() ?? "")) {
        await openPager(io, `${formatDiffs(diffs, { paint }).join("\n")}\n`, signal);
        continue;
      }
      const answer = parseDecision(typed);
      if (answer !== undefined) return answer;
      const unknown = toSingleLine(typed ?? "", 40);
      const choices = "type y (yes, once), a (always in this session), n (no) or n and a reason";
      io.stderr.write(`${unknown === "" ? "no answer" : `"${unknown}" is not an answer`}: ${choices}\n`);
      shown = ask;
    }
  }
}

/** Returns undefined for an unknown answer. A closed input means no. A reason may follow a no: `n use npm test`. */
export function parseDecision(typed: string | undefined): Answer | undefined {
  const word = typed?.trim().toLowerCase() ?? "no";
  const [, message] = /^no?[\s,:]+(.+)$/i.exec(typed?.trim() ?? "") ?? [];
  if (message !== undefined) return { decision: "deny", message };
  if (["y", "yes"].includes(word)) return { decision: "allow", scope: "once" };
  if (["a", "always"].includes(word)) return { decision: "allow", scope: "session" };
  return ["n", "no"].includes(word) ? { decision: "deny" } : undefined;
}
