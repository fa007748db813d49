/** Calls a tool of a server and says how it ended, whatever the server did. */
import { messageOf, type ToolContext, type ToolOutcome, type ToolResult, type ToolSpec } from "../../domain/index.ts";
import { Allowance } from "../allowance.ts";
import { LinkLost, type Link } from "../link.ts";
import { requiredUrls, type Asking } from "../questions.ts";
import { shortened } from "../shortened.ts";
import { loginNeeded, NetworkError } from "../transport/remote.ts";
import type { CallsInFlight } from "./in-flight.ts";
import { Patience } from "./patience.ts";
import { readResult } from "./result.ts";

export interface ToolOfServer {
  readonly server: string;
  /** What the server calls it. */
  readonly tool: string;
  readonly spec: ToolSpec;
  readonly link: Link;
  readonly calls: CallsInFlight;
  readonly silentMs: number;
  readonly totalMs: number;
  readonly textChars: number;
  ask(asking: Asking, signal: AbortSignal): Promise<{ readonly action: string }>;
}

/** Of an error's words, and of what a server says of its progress. */
const MAX_WORDS = 4_000;
/** More progress counts as a sign of life, and is not told. */
const TOLD = { atOnce: 100, perSecond: 10 };

/** Never rejects. */
export async function callTool(of: ToolOfServer, input: unknown, context: ToolContext): Promise<ToolResult> {
  const { server, tool, spec, link, calls } = of;
  if (typeof (input ?? {}) !== "object" || Array.isArray(input))
    return ended("failed", "the arguments are not an object");
  const ending = new AbortController();
  let how: "cancelled" | "timed_out" | undefined;
  const end = (as: "cancelled" | "timed_out", why: string): void => {
    how ??= as;
    ending.abort(why);
  };
  const cancel = (): void => end("cancelled", "the call was cancelled");
  const expired = (): void => end("timed_out", "the call took too long");
  const patience = new Patience({ silentMs: of.silentMs, totalMs: of.totalMs, expired });
  const over = calls.add({ ask: (...args) => context.ask(...args), signal: ending.signal, patience });
  context.signal.addEventListener("abort", cancel, { once: true });
  const told = new Allowance(TOLD);
  const attempt = (): Promise<Record<string, unknown>> =>
    link.request(
      "tools/call",
      { name: tool, arguments: input ?? {} },
      {
        signal: ending.signal,
        progress({ progress, total, message }) {
          patience.heard();
          if (!told.take()) return;
          const words = message ?? (total === undefined ? `${progress}` : `${progress} of ${total}`);
          context.progress(shortened(words, MAX_WORDS));
        },
      },
    );
  try {
    if (context.signal.aborted) cancel();
    ending.signal.throwIfAborted();
    const raw = await attempt().catch(async (error: unknown) => {
      const urls = requiredUrls(server, error);
      if (urls === undefined) throw error;
      for (const asking of urls) {
        const { action } = await of.ask(asking, ending.signal);
        if (action !== "accept")
          throw new Error(
            `it wants ${asking.question.url ?? "a page"} to be visited first, which was refused (${action})`,
          );
      }
      return attempt();
    });
    patience.stop();
    return await readResult(raw, { spec, putBlob: (bytes) => context.putBlob(bytes), textChars: of.textChars });
  } catch (error) {
    if (how === "cancelled") return ended("cancelled", `the call of ${tool} was cancelled`);
    if (how === "timed_out")
      return ended(
        "timed_out",
        `the MCP server ${server} did not answer the call of ${tool} in time; it was told to stop, and may have done it all the same`,
      );
    return failure(server, tool, error);
  } finally {
    context.signal.removeEventListener("abort", cancel);
    over();
  }
}

function failure(server: string, tool: string, error: unknown): ToolResult {
  const login = loginNeeded(error);
  if (login !== undefined)
    return ended("failed", `the MCP server ${server} wants a login first: \`rookery mcp auth ${server}\``);
  const why = shortened(messageOf(error), MAX_WORDS);
  const isLost = error instanceof LinkLost || (error instanceof NetworkError && !error.isUnsent);
  if (isLost) {
    const message = `the connection to the MCP server ${server} was lost in the call of ${tool}, which may or may not have happened: ${why}`;
    return ended("unknown", message);
  }
  return ended("failed", `the MCP server ${server} failed ${tool}: ${why}`);
}

function ended(outcome: ToolOutcome, text: string): ToolResult {
  return { outcome, text };
}
