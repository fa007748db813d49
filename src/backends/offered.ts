/** An agent's tools for a program that drives itself: an MCP server of this process whose calls pass the session's gate. */
import type {
  EventBody,
  InProcessServerSpec,
  SessionDesk,
  ToolContext,
  ToolKind,
  ToolResult,
  TurnContext,
} from "../domain/index.ts";
import type { CallOptions } from "../mcp/endpoint/index.ts";
import type { McpServers } from "../mcp/index.ts";
import { deadline } from "../stdx/index.ts";
import { CALL, type AgentTools, type PreparedCall, type RunnableCall } from "../tools/index.ts";

/** What the program knows the server as. */
export const OFFERED_NAME = "rookery";

/** A server that someone else brought is not to pass for ours, whose calls programs are told to let through. */
export function broughtAs<Spec extends { readonly name: string }>(spec: Spec): Spec {
  return spec.name === OFFERED_NAME ? { ...spec, name: `client-${OFFERED_NAME}` } : spec;
}

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
  /** Told of a call of this turn that the program has not reported: what it reports of it later is that call. */
  readonly unreported: (tool: string) => void;
  /** Fires when the session is let go: what still runs is stopped. */
  readonly closing: AbortSignal;
  /** Told of each call, until it is over. */
  readonly calling: Set<Promise<unknown>>;
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
    call: async (prepared, asked) => {
      const calling = call(options, prepared, asked);
      options.calling.add(calling);
      return calling.finally(() => options.calling.delete(calling));
    },
  });
  const open = async () => {
    using enough = deadline(SETTLE_MS);
    await servers?.settled(enough.signal).catch(() => undefined);
    return await server.open();
  };
  return { ...server, open };
}

/** A call as a program reports it. */
export interface ReportedCall {
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly input: unknown;
}

/**
 * The tool of ours that a program means: its call will come to the server and be decided there. Programs have their own
 * ways to join a server's name and a tool's, and nothing but such a name counts.
 */
export function offeredTool(
  { name, title, kind, input }: ReportedCall,
  tools: Pick<ReadonlySet<string>, "has">,
): string | undefined {
  const isCommand = kind === "execute" || (typeof input === "object" && input !== null && "command" in input);
  const named = toolIn(name, isCommand ? [MARKED, SAID] : [MARKED, SAID, JOINED]);
  return [named, toolIn(title, formsOfTitle(kind, isCommand))].find((tool) => tool !== undefined && tools.has(tool));
}

/** As Claude Code 2.1 and Codex 0.166 do, as Gemini CLI 0.61 does, and as others do. */
const MARKED = /^mcp[_.]+rookery[_.]+([a-zA-Z\d-][\w-]*)$/;
const SAID = /^([\w-]+) \(rookery(?: MCP Server)?\)$/;
const JOINED = /^(?:mcp[_.: ]+)?rookery[./: _]+([a-zA-Z\d-][\w-]*)$/;

/**
 * A title is often what a model wrote: a command, which `rookery/build` may be, with what it says of it in brackets
 * (Gemini CLI), a file, an address. There only a name counts that is none of these, and of a change to files none.
 */
function formsOfTitle(kind: ToolKind, isCommand: boolean): readonly RegExp[] {
  switch (kind) {
    case "edit":
    case "delete":
    case "move":
      return [];
    case "other":
      return isCommand ? [MARKED, SAID] : [MARKED, SAID, JOINED];
    default:
      return [MARKED];
  }
}

function toolIn(text: string, forms: readonly RegExp[]): string | undefined {
  return forms.map((form) => form.exec(text.trim())?.[1]).find((tool) => tool !== undefined);
}

/** What a call needs of the session, within a turn or between turns. */
type Pen = Pick<ToolContext, "ask" | "putBlob" | "getBlob" | "record"> & Pick<TurnContext, "permit" | "signal">;

const NEVER = new AbortController().signal;

function penOf({ turn, desk }: Pick<OfferedOptions, "turn" | "desk">): Pen | undefined {
  const running = turn();
  const between = desk();
  if (running !== undefined) {
    return {
      signal: running.signal,
      permit: (request, options) => running.permit(request, options),
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
  return { ...between, record, signal: NEVER };
}

async function call(options: OfferedOptions, prepared: PreparedCall, calling: CallOptions): Promise<ToolResult> {
  const pen = penOf(options);
  if (pen === undefined) return { outcome: "denied", text: "the session is not there yet: nothing is done for it" };
  const { spec, description } = prepared;
  const { name, input } = prepared.call;
  const reported = options.reported(name) ?? options.reported(CALL); // the program knows the call as that of the pair
  if (reported === undefined && options.turn() !== undefined) options.unreported(name);
  const toolId = reported ?? prepared.call.toolId;
  const record = async (body: EventBody): Promise<void> => {
    if (reported === undefined) await pen.record(body);
  };
  const { title } = description;
  const end = ({ outcome, text, blobs, structured }: ToolResult) => {
    const more = { ...(blobs !== undefined && { blobs }), ...(structured !== undefined && { structured }) };
    return record({ type: "tool.ended", toolId, outcome, text, ...more });
  };
  await record({ type: "tool.started", toolId, name, title, kind: spec?.kind ?? "other", input });
  const signal = AbortSignal.any([calling.signal, options.closing]);
  try {
    const result =
      prepared.kind === "settled"
        ? prepared.result
        : await decidedAndRun(options, pen, { prepared, toolId, calling: { ...calling, signal } });
    await end(result);
    return result;
  } catch (error) {
    if (signal.aborted && !pen.signal.aborted) await end({ outcome: "cancelled", text: `${name} was cancelled` });
    throw error;
  }
}

async function decidedAndRun(
  { cwd, marker }: OfferedOptions,
  pen: Pen,
  { prepared, toolId, calling }: { prepared: RunnableCall; toolId: string; calling: CallOptions },
): Promise<ToolResult> {
  const { spec, description, call } = prepared;
  const { name: tool, kind, readOnly } = spec;
  const request = { toolId, tool, title: description.title, kind, readOnly, input: call.input };
  const decision = await pen.permit(request, { signal: calling.signal });
  if (!decision.allowed) return { outcome: decision.outcome, text: decision.message };
  const signal = AbortSignal.any([pen.signal, calling.signal]);
  const { ask, putBlob, getBlob, record } = pen;
  return prepared.run({ cwd, marker, signal, progress: calling.progress, ask, putBlob, getBlob, record });
}
