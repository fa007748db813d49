/** Calls a tool of an MCP server and turns every outcome into a tool result. */
import { messageOf, type ToolContext, type ToolOutcome, type ToolResult, type ToolSpec } from "../../domain/index.ts";
import { RateLimiter } from "../rate-limiter.ts";
import { LinkLost, type Link } from "../link.ts";
import { readRequiredUrls, type ServerQuestion } from "../elicitation.ts";
import { truncateWithCount } from "../truncate.ts";
import { findLoginNeeded, NetworkError } from "../transport/remote.ts";
import type { CallsInFlight } from "./in-flight.ts";
import { CallTimeout } from "./call-timeout.ts";
import { readResult } from "./result.ts";

export interface ServerTool {
  readonly server: string;
  /** The server's name for the tool. */
  readonly tool: string;
  readonly spec: ToolSpec;
  readonly link: Link;
  readonly calls: CallsInFlight;
  readonly silentMs: number;
  readonly totalMs: number;
  readonly textChars: number;
  ask(serverQuestion: ServerQuestion, signal: AbortSignal): Promise<{ readonly action: string }>;
}

/** Maximum length of an error message and of a progress message, in characters. */
const MAX_MESSAGE_CHARACTERS = 4_000;
/** Rate limit of progress messages. Progress above it still resets the timeout. */
const PROGRESS_RATE = { atOnce: 100, perSecond: 10 };

/** Never rejects. */
export async function callServerTool(
  serverTool: ServerTool,
  input: unknown,
  context: ToolContext,
): Promise<ToolResult> {
  const { server, tool, spec, link, calls } = serverTool;
  if (typeof (input ?? {}) !== "object" || Array.isArray(input))
    return makeResult("failed", "the arguments are not an object");
  const controller = new AbortController();
  let endedAs: "cancelled" | "timed_out" | undefined;
  const end = (as: "cancelled" | "timed_out", why: string): void => {
    endedAs ??= as;
    controller.abort(why);
  };
  const cancel = (): void => end("cancelled", "the call was cancelled");
  const expired = (): void => end("timed_out", "the call took too long");
  const timeout = new CallTimeout({ silentMs: serverTool.silentMs, totalMs: serverTool.totalMs, expired });
  const removeCall = calls.add({ ask: (...args) => context.ask(...args), signal: controller.signal, timeout });
  context.signal.addEventListener("abort", cancel, { once: true });
  const progressLimiter = new RateLimiter(PROGRESS_RATE);
  const attempt = (): Promise<Record<string, unknown>> =>
    link.request(
      "tools/call",
      { name: tool, arguments: input ?? {} },
      {
        signal: controller.signal,
        progress({ progress, total, message }) {
          timeout.recordProgress();
          if (!progressLimiter.take()) return;
          const text = message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`);
          context.progress(truncateWithCount(text, MAX_MESSAGE_CHARACTERS));
        },
      },
    );
  try {
    if (context.signal.aborted) cancel();
    controller.signal.throwIfAborted();
    const raw = await attempt().catch(async (error: unknown) => {
      const urls = readRequiredUrls(server, error);
      if (urls === undefined) throw error;
      for (const serverQuestion of urls) {
        const { action } = await serverTool.ask(serverQuestion, controller.signal);
        if (action !== "accept")
          throw new Error(`the user did not open the required page ${serverQuestion.question.url ?? ""} (${action})`);
      }
      return attempt();
    });
    timeout.stop();
    return await readResult(raw, { spec, putBlob: (bytes) => context.putBlob(bytes), textChars: serverTool.textChars });
  } catch (error) {
    if (endedAs === "cancelled") return makeResult("cancelled", `the call of ${tool} was cancelled`);
    if (endedAs === "timed_out")
      return makeResult(
        "timed_out",
        `the MCP server ${server} did not answer the call of ${tool} in time; Rookery cancelled the call, but it may still have taken effect`,
      );
    return toFailedResult(server, tool, error);
  } finally {
    context.signal.removeEventListener("abort", cancel);
    removeCall();
  }
}

function toFailedResult(server: string, tool: string, error: unknown): ToolResult {
  const login = findLoginNeeded(error);
  if (login !== undefined)
    return makeResult("failed", `the MCP server ${server} requires a login: run \`rookery mcp auth ${server}\``);
  const why = truncateWithCount(messageOf(error), MAX_MESSAGE_CHARACTERS);
  const isLost = error instanceof LinkLost || (error instanceof NetworkError && !error.isUnsent);
  if (isLost) {
    const message = `the connection to the MCP server ${server} was lost during the call of ${tool}, which may or may not have taken effect: ${why}`;
    return makeResult("unknown", message);
  }
  return makeResult("failed", `the call of ${tool} on the MCP server ${server} failed: ${why}`);
}

function makeResult(outcome: ToolOutcome, text: string): ToolResult {
  return { outcome, text };
}
