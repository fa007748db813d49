/** Opens the built-in agent on one wire: a scripted model, a session on SQLite, and test tools. */
import { join } from "node:path";
import type { BackendContext, PermissionPolicy, SessionEvent, ToolResult, ToolSource } from "../../domain/index.ts";
import { openTestModel, type WireName } from "../../providers/test-models.ts";
import { createSession, type PreparedAgent, type Session } from "../../session/index.ts";
import { deferred, DisposeStack, ownIdentity, systemClock } from "../../stdx/index.ts";
import { openSqliteStore } from "../../store/index.ts";
import { startModelServer, temporaryFolder, transcript, type Script } from "../../testing/index.ts";
import { AgentTools } from "../../tools/index.ts";
import { openBuiltInAgent } from "../built-in-agent.ts";
import type { BuiltInAgentOptions } from "../turn-agent.ts";

export { WIRES, type WireName } from "../../providers/test-models.ts";

export interface SceneOptions extends Partial<Pick<BuiltInAgentOptions, "retry" | "price">> {
  readonly wire: WireName;
  readonly script: Script;
  readonly contextSize?: number | undefined;
  readonly permissions?: PermissionPolicy | undefined;
  readonly attended?: boolean | undefined;
  readonly marker?: BackendContext["marker"] | undefined;
  readonly sources?: readonly ToolSource[] | undefined;
  readonly timeLimits?: PreparedAgent["timeLimits"];
}

export type Scene = Awaited<ReturnType<typeof openScene>>;

/** Retries almost without delay. */
export const FAST_RETRY = { retries: 3, firstDelayMs: 1 };

export async function openScene(options: SceneOptions) {
  const { wire, script, contextSize, permissions = "ask", attended = true, retry = FAST_RETRY } = options;
  const owned = new DisposeStack();
  const folder = owned.use(await temporaryFolder());
  const model = owned.use(await startModelServer(script));
  const store = owned.use(await openSqliteStore({ path: join(folder.path, "rookery.db") }));
  const held = deferred();
  const tools = new AgentTools({});
  for (const source of [testTools(held.promise), ...(options.sources ?? [])]) tools.add(source);
  const prepare = (state: { readonly id: string }): Promise<PreparedAgent> =>
    Promise.resolve({
      timeLimits: options.timeLimits,
      settings: { agent: "robin", backend: "api", model: undefined, cwd: folder.path, permissions },
      connect: () =>
        Promise.resolve(
          openBuiltInAgent({
            sessionId: state.id,
            cwd: folder.path,
            model: openTestModel(wire, model.url, { context: contextSize }),
            system: "Be brief.",
            tools,
            price: options.price,
            marker: options.marker ?? "contract",
            retry,
            name: "robin",
          }),
        ),
    });
  const { pid, startTime } = ownIdentity();
  const opening = { store, clock: systemClock, owner: `${pid}.${startTime}.contract`, attended, pollMs: 20 };
  const session: Session = owned.use(await createSession(opening, {}, prepare));
  const events = async (): Promise<readonly SessionEvent[]> =>
    (await store.read({ sessionId: session.id, limit: 10_000 })).events;
  return {
    model,
    store,
    session,
    folder: folder.path,
    events,
    lines: async () => transcript(await events()).slice(1),
    /** Releases the `hold` tool. */
    release: () => held.resolve(),
    /** Waits until the log has an event of this type. */
    seen: async (type: SessionEvent["type"], signal = AbortSignal.timeout(20_000)): Promise<SessionEvent> => {
      for await (const event of store.follow({ sessionId: session.id, after: 0, signal })) {
        if (event.type === type) return event;
      }
      throw new Error(`the log ended without ${type}`);
    },
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

const OF = { type: "object", properties: { of: { type: "string" } }, required: ["of"], additionalProperties: false };

/** `look` and `fail` read, `change` changes, `wait` waits until it is aborted, and `hold` until it is released. */
function testTools(held: Promise<void>): ToolSource {
  const spec = (name: string, readOnly = true) => {
    const kind = readOnly ? ("read" as const) : ("edit" as const);
    return { name, description: `Does ${name}.`, inputSchema: OF, kind, readOnly };
  };
  return {
    id: "test",
    list: () => [spec("look"), spec("fail"), spec("change", false), spec("wait"), spec("hold")],
    describe: ({ name, input }) => ({ title: `${name} ${String((input as { of?: unknown } | null)?.of)}` }),
    call: async ({ name, input }, { signal }): Promise<ToolResult> => {
      const { of } = (input ?? {}) as { of?: unknown };
      if (typeof of !== "string") return { outcome: "failed", text: "`of` must be a string" };
      switch (name) {
        case "fail":
          return { outcome: "failed", text: `${of} cannot be done` };
        case "wait":
          await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          return { outcome: "cancelled", text: "stopped" };
        case "hold":
          await held;
          return { outcome: "ok", text: `held ${of}` };
        default:
          return { outcome: "ok", text: `saw ${of}` };
      }
    },
  };
}
