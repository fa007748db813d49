/** An agent's tools for a program that drives itself: an MCP server of this process whose calls pass the session's gate. */
import type { EventBody, InProcessServerSpec, ToolContext, ToolResult, TurnContext } from "../domain/index.ts";
import type { CallOptions } from "../mcp/endpoint/index.ts";
import type { PreparedCall, RunnableCall } from "../tools/index.ts";
import type { Equipment } from "./equipment.ts";

/** What the program knows the server as. */
export const OFFERED_NAME = "rookery";

export interface OfferedOptions {
  readonly equipment: Equipment;
  readonly cwd: string;
  readonly marker: string;
  /** The turn that runs; a program may call at any time, and is refused where none does. */
  readonly turn: () => TurnContext | undefined;
  /** The id under which the program itself has reported this call, so that the log has it once. */
  readonly reported: (tool: string) => string | undefined;
}

/** Not every program looks again when tools come later, and none waits for long before it gives a server up. */
const SETTLE_MS = 3_000;

/** Loaded where something is offered. */
export async function offeredTools(options: OfferedOptions): Promise<InProcessServerSpec> {
  const { catalogServer } = await import("../mcp/endpoint/index.ts");
  const { tools, held } = options.equipment;
  const server = catalogServer({
    name: OFFERED_NAME,
    artifact: () => tools.artifact(),
    onChange: (listener) => tools.onChange(listener),
    getBlob: async (hash) => options.turn()?.blob(hash),
    call: (prepared, calling) => call(options, prepared, calling),
  });
  const open = async () => {
    await held.settled(AbortSignal.timeout(SETTLE_MS)).catch(() => undefined);
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

const NAMED = [/^(?:mcp[_.: ]+)?rookery(?:__|[./: ]+)([\w-]+)$/i, /^([\w-]+) \(rookery(?: MCP Server)?\)$/i];

async function call(options: OfferedOptions, prepared: PreparedCall, calling: CallOptions): Promise<ToolResult> {
  const turn = options.turn();
  if (turn === undefined) return { outcome: "denied", text: "no turn of this session runs: nothing is done for it" };
  if (prepared.kind === "settled") return prepared.result;
  const { spec, description } = prepared;
  const reported = options.reported(spec.name);
  const toolId = reported ?? prepared.call.toolId;
  const record = (...bodies: EventBody[]): void => {
    if (reported === undefined) turn.log.record(...bodies);
  };
  const { input } = prepared.call;
  record({ type: "tool.started", toolId, name: spec.name, title: description.title, kind: spec.kind, input });
  const result = await decidedAndRun(options, turn, { prepared, toolId, calling });
  const { outcome, text, blobs, structured } = result;
  const more = { ...(blobs !== undefined && { blobs }), ...(structured !== undefined && { structured }) };
  record({ type: "tool.ended", toolId, outcome, text, ...more });
  return result;
}

async function decidedAndRun(
  { cwd, marker }: OfferedOptions,
  turn: TurnContext,
  { prepared, toolId, calling }: { prepared: RunnableCall; toolId: string; calling: CallOptions },
): Promise<ToolResult> {
  const { spec, description, call } = prepared;
  const { name: tool, kind, readOnly } = spec;
  const decision = await turn.permit({ toolId, tool, title: description.title, kind, readOnly, input: call.input });
  if (!decision.allowed) return { outcome: decision.outcome, text: decision.message };
  const context: ToolContext = {
    cwd,
    marker,
    signal: AbortSignal.any([turn.signal, calling.signal]),
    progress: calling.progress,
    ask: (question, options) => turn.ask(question, options),
    putBlob: (bytes) => turn.putBlob(bytes),
    getBlob: (hash) => turn.blob(hash),
    record: async (body) => {
      turn.log.record(body);
      await turn.log.commit();
    },
  };
  return prepared.run(context);
}
