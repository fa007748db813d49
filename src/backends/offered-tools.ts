/**
 * Offers an agent's tools to an external program: an in-process MCP server whose calls need the session's permission.
 */
import type {
  EventBody,
  InProcessServerSpec,
  BetweenTurnsContext,
  ToolContext,
  ToolKind,
  ToolResult,
  TurnContext,
} from "../domain/index.ts";
import type { CallOptions } from "../mcp/endpoint/index.ts";
import type { McpServers } from "../mcp/index.ts";
import { deadline } from "../stdx/index.ts";
import { CALL_TOOL, type AgentTools, type PreparedCall, type RunnableCall } from "../tools/index.ts";

/** Name of the server as the program sees it. */
export const OFFERED_NAME = "rookery";

/** Renames a server of the client that uses our name: programs allow all calls of our server. */
export function reserveServerName<Spec extends { readonly name: string }>(spec: Spec): Spec {
  return spec.name === OFFERED_NAME ? { ...spec, name: `client-${OFFERED_NAME}` } : spec;
}

export interface OfferedOptions {
  readonly tools: AgentTools;
  readonly servers: McpServers | undefined;
  readonly cwd: string;
  readonly marker: string;
  /** Returns the running turn, if any. It decides about calls; between turns the session does. */
  readonly turn: () => TurnContext | undefined;
  readonly betweenTurns: () => BetweenTurnsContext | undefined;
  /** Returns the id under which the program reported the call, so that the log has it once. */
  readonly reported: (tool: string) => string | undefined;
  /** Called for a call that the program has not reported yet: a later report is a duplicate. */
  readonly unreported: (tool: string) => void;
  /** Fires when the session closes; running calls are stopped. */
  readonly closing: AbortSignal;
  /** The running calls. */
  readonly calling: Set<Promise<unknown>>;
}

/** Wait for MCP servers before tools are listed: few programs list again, and none waits long for a server. */
const SETTLE_MS = 3_000;

/** Imports the MCP endpoint on demand. */
export async function createOfferedServer(options: OfferedOptions): Promise<InProcessServerSpec> {
  const { catalogServer } = await import("../mcp/endpoint/index.ts");
  const { tools, servers } = options;
  const server = catalogServer({
    name: OFFERED_NAME,
    snapshot: () => tools.snapshot(),
    onChange: (listener) => tools.onChange(listener),
    getBlob: async (hash) => findCallServices(options)?.getBlob(hash),
    call: async (prepared, asked) => {
      const calling = runOfferedCall(options, prepared, asked);
      options.calling.add(calling);
      return calling.finally(() => options.calling.delete(calling));
    },
  });
  const open = async () => {
    using enough = deadline(SETTLE_MS);
    await servers?.settled({ signal: enough.signal }).catch(() => undefined);
    return await server.open();
  };
  return { ...server, open };
}

/** A tool call as a program reports it. */
export interface ReportedCall {
  readonly name: string;
  readonly title: string;
  readonly kind: ToolKind;
  readonly input: unknown;
}

/**
 * Returns the Rookery tool that a reported call means, if any. Its call arrives at the server, which decides about it.
 * Programs join the names of server and tool in different ways; no other text counts.
 */
export function findOfferedTool(
  { name, title, kind, input }: ReportedCall,
  tools: Pick<ReadonlySet<string>, "has">,
): string | undefined {
  const isCommand = kind === "execute" || (typeof input === "object" && input !== null && "command" in input);
  const named = matchTool(name, isCommand ? [PREFIXED, PARENTHESIZED] : [PREFIXED, PARENTHESIZED, JOINED]);
  return [named, matchTool(title, titleForms(kind, isCommand))].find((tool) => tool !== undefined && tools.has(tool));
}

/** The forms of Claude Code 2.1 and Codex 0.166, of Gemini CLI 0.61, and of other programs. */
const PREFIXED = /^mcp[_.]+rookery[_.]+([a-zA-Z\d-][\w-]*)$/;
const PARENTHESIZED = /^([\w-]+) \(rookery(?: MCP Server)?\)$/;
const JOINED = /^(?:mcp[_.: ]+)?rookery[./: _]+([a-zA-Z\d-][\w-]*)$/;

/**
 * Titles often contain model output: a command such as `rookery/build`, with a comment in parentheses (Gemini CLI), a
 * file or a URL. Only forms that cannot be any of these count, and none for file changes.
 */
function titleForms(kind: ToolKind, isCommand: boolean): readonly RegExp[] {
  switch (kind) {
    case "edit":
    case "delete":
    case "move":
      return [];
    case "other":
      return isCommand ? [PREFIXED, PARENTHESIZED] : [PREFIXED, PARENTHESIZED, JOINED];
    default:
      return [PREFIXED];
  }
}

function matchTool(text: string, forms: readonly RegExp[]): string | undefined {
  return forms.map((form) => form.exec(text.trim())?.[1]).find((tool) => tool !== undefined);
}

/** What a call needs from the session, during a turn or between turns. */
type CallServices = Pick<ToolContext, "ask" | "putBlob" | "getBlob" | "record"> &
  Pick<TurnContext, "permit" | "signal">;

const NEVER = new AbortController().signal;

function findCallServices({
  turn,
  betweenTurns,
}: Pick<OfferedOptions, "turn" | "betweenTurns">): CallServices | undefined {
  const running = turn();
  const between = betweenTurns();
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

/** Runs a prepared call through the session's permission gate, and records it unless the program reported it. */
export async function runOfferedCall(
  options: OfferedOptions,
  prepared: PreparedCall,
  calling: CallOptions,
): Promise<ToolResult> {
  const pen = findCallServices(options);
  if (pen === undefined) return { outcome: "denied", text: "the session is still opening, so no tool can run yet" };
  const { spec, description } = prepared;
  const { name, input } = prepared.call;
  const reported = options.reported(name) ?? options.reported(CALL_TOOL); // the program may see it as a call of `call_tool`
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
        : await permitAndRun(options, pen, { prepared, toolId, calling: { ...calling, signal } });
    await end(result);
    return result;
  } catch (error) {
    if (signal.aborted && !pen.signal.aborted) await end({ outcome: "cancelled", text: `${name} was cancelled` });
    throw error;
  }
}

async function permitAndRun(
  { cwd, marker }: OfferedOptions,
  pen: CallServices,
  { prepared, toolId, calling }: { prepared: RunnableCall; toolId: string; calling: CallOptions },
): Promise<ToolResult> {
  const { spec, description, call } = prepared;
  const { name: tool, kind, readOnly } = spec;
  const preview = () => prepared.preview({ cwd, signal: calling.signal });
  const request = { toolId, tool, title: description.title, kind, readOnly, input: call.input, preview };
  const decision = await pen.permit(request, { signal: calling.signal });
  if (!decision.allowed) return { outcome: decision.outcome, text: decision.message };
  const signal = AbortSignal.any([pen.signal, calling.signal]);
  const { ask, putBlob, getBlob, record } = pen;
  return prepared.run({ cwd, marker, signal, progress: calling.progress, ask, putBlob, getBlob, record });
}
