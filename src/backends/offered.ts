/** An agent's tools for a program that drives itself: an MCP server of this process whose calls pass the session's gate. */
import type {
  EventBody,
  InProcessServerSpec,
  SessionDesk,
  ToolContext,
  ToolResult,
  TurnContext,
} from "../domain/index.ts";
import type { CallOptions } from "../mcp/endpoint/index.ts";
import type { McpServers } from "../mcp/index.ts";
import type { AgentTools, PreparedCall, RunnableCall } from "../tools/index.ts";

/** What the program knows the server as. */
export const OFFERED_NAME = "rookery";

export interface OfferedOptions {
  readonly tools: AgentTools;
  readonly servers: McpServers | undefined;
  readonly cwd: string;
  readonly marker: string;
  /** The turn that runs, if one does: what a program does between turns is decided there. */
  readonly turn: () => TurnContext | undefined;
  readonly desk: () => SessionDesk | undefined;
  /** The id under which the program itself has reported this call, so that the log has it once. */
  readonly reported: (tool: string) => string | undefined;
}

/** Not every program looks again when tools come later, and none waits for long before it gives a server up. */
const SETTLE_MS = 3_000;

/** Loaded where something is offered. */
export async function offeredTools(options: OfferedOptions): Promise<InProcessServerSpec> {
  const { catalogServer } = await import("../mcp/endpoint/index.ts");
  const { tools, servers } = options;
  const server = catalogServer({
    name: OFFERED_NAME,
    artifact: () => tools.artifact(),
    onChange: (listener) => tools.onChange(listener),
    getBlob: async (hash) => penOf(options)?.getBlob(hash),
    call: (prepared, calling) => call(options, prepared, calling),
  });
  const open = async () => {
    await servers?.settled(AbortSignal.timeout(SETTLE_MS)).catch(() => undefined);
    return server.open();
  };
  return { ...server, open };
}

/**
 * Is this, as a program names it, a call that will come to the server and be decided there? Programs have their own ways
 * to join a server's name and a tool's; nothing but such a name counts, for a title may be a command that a model wrote.
 */
export function isOffered(text: string, tools: ReadonlyMap<string, unknown>): boolean {
  const named = NAMED.map((form) => form.exec(text.trim())?.[1]).find((tool) => tool !== undefined);
  return named !== undefined && tools.has(named);
}

const NAMED = [/^(?:mcp[_.: ]+)?rookery[./: _]+([\w-]+)$/i, /^([\w-]+) \(rookery(?: MCP Server)?\)$/i];

/** What a call needs of the session, within a turn or between turns. */
type Pen = Pick<ToolContext, "ask" | "putBlob" | "getBlob" | "record"> & Pick<TurnContext, "permit" | "signal">;

const NEVER = new AbortController().signal;

function penOf({ turn, desk }: Pick<OfferedOptions, "turn" | "desk">): Pen | undefined {
  const running = turn();
  const between = desk();
  if (running !== undefined) {
    return {
      signal: running.signal,
      permit: (request) => running.permit(request),
      ask: (question, options) => running.ask(question, options),
      putBlob: (bytes) => running.putBlob(bytes),
      getBlob: (hash) => running.blob(hash),
      record: async (body) => {
        running.log.record(body);
        await running.log.commit();
      },
    };
  }
  if (between === undefined) return undefined;
  const record = (body: EventBody) => Promise.resolve(between.record(body));
  const permit: Pen["permit"] = (request) => between.permit(request);
  return { ...between, permit, record, signal: NEVER };
}

async function call(options: OfferedOptions, prepared: PreparedCall, calling: CallOptions): Promise<ToolResult> {
  const pen = penOf(options);
  if (pen === undefined) return { outcome: "denied", text: "the session is not there yet: nothing is done for it" };
  if (prepared.kind === "settled") return prepared.result;
  const { spec, description } = prepared;
  const { input } = prepared.call;
  const reported = options.reported(spec.name);
  const toolId = reported ?? prepared.call.toolId;
  const record = async (body: EventBody): Promise<void> => {
    if (reported === undefined) await pen.record(body);
  };
  await record({ type: "tool.started", toolId, name: spec.name, title: description.title, kind: spec.kind, input });
  const result = await decidedAndRun(options, pen, { prepared, toolId, calling });
  const { outcome, text, blobs, structured } = result;
  const more = { ...(blobs !== undefined && { blobs }), ...(structured !== undefined && { structured }) };
  await record({ type: "tool.ended", toolId, outcome, text, ...more });
  return result;
}

async function decidedAndRun(
  { cwd, marker }: OfferedOptions,
  pen: Pen,
  { prepared, toolId, calling }: { prepared: RunnableCall; toolId: string; calling: CallOptions },
): Promise<ToolResult> {
  const { spec, description, call } = prepared;
  const { name: tool, kind, readOnly } = spec;
  const decision = await pen.permit({ toolId, tool, title: description.title, kind, readOnly, input: call.input });
  if (!decision.allowed) return { outcome: decision.outcome, text: decision.message };
  const signal = AbortSignal.any([pen.signal, calling.signal]);
  const { ask, putBlob, getBlob, record } = pen;
  return prepared.run({ cwd, marker, signal, progress: calling.progress, ask, putBlob, getBlob, record });
}
