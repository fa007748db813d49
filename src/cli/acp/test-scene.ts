/** For tests: an editor at the built `rookery acp`, with a scripted model behind it. */
import { connectClient, startAgent, type AgentProcess, type Client, type ClientOptions } from "../../acp/index.ts";
import type * as acp from "../../acp/schema.ts";
import { DisposeStack } from "../../stdx/index.ts";
import type { ModelServerOptions, Script } from "../../testing/index.ts";
import { MAIN, openPlace, type Place } from "../spawned.ts";

export interface Editor extends AsyncDisposable {
  readonly client: Client;
  readonly agent: AgentProcess;
  /** Everything that went over the wire, in order. */
  readonly wire: { readonly direction: "in" | "out"; readonly message: Message }[];
}

export interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface EditorOptions extends Pick<ClientOptions, "serve" | "capabilities"> {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Scene extends AsyncDisposable {
  readonly place: Place;
  readonly cwd: string;
  /** Another editor in the same place; the test closes it. */
  editor(options?: EditorOptions): Promise<Editor>;
}

export async function openScene(
  script: Script,
  options: ModelServerOptions & { files?: Record<string, string> } = {},
): Promise<Scene> {
  await using opening = new DisposeStack();
  const place = opening.use(await openPlace(script, options));
  const editors = new DisposeStack();
  opening.use(editors);
  const owned = opening.move();
  return {
    place,
    cwd: place.repository.path,
    editor: async (wanted = {}) => editors.use(await openEditor(place, wanted)),
    [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose](),
  };
}

/** The texts of all chunks of that kind. */
export function textIn(updates: readonly acp.SessionUpdate[], kind: string): string {
  return updates
    .map((update) => (update.sessionUpdate === kind && "content" in update ? textOf(update.content) : ""))
    .join("");
}

/** Of the updates that came, those of the session, in order. */
export function updatesOf({ wire }: Editor, sessionId: string): acp.SessionUpdate[] {
  return wire.flatMap(({ direction, message }) => {
    if (direction !== "in" || message.method !== "session/update") return [];
    const params = message.params as acp.SessionNotification;
    return params.sessionId === sessionId ? [params.update] : [];
  });
}

export const allowing = (optionId: string): acp.RequestPermissionResponse => ({
  outcome: { outcome: "selected", optionId },
});

async function openEditor(place: Place, { args = [], env = {}, ...client }: EditorOptions): Promise<Editor> {
  await using opening = new DisposeStack();
  const agent = opening.use(
    await startAgent({
      command: [process.execPath, MAIN, "acp", ...args],
      cwd: place.repository.path,
      env: { ...place.env, ...env },
    }),
  );
  const wire: Editor["wire"] = [];
  const connected = opening.use(
    await connectClient({
      transport: agent.transport,
      exit: () => agent.exit(),
      trace: (direction, line) => wire.push({ direction, message: JSON.parse(line) as Message }),
      ...client,
    }),
  );
  const owned = opening.move();
  return { client: connected, agent, wire, [Symbol.asyncDispose]: () => owned[Symbol.asyncDispose]() };
}

function textOf(content: unknown): string {
  const { text } = content as { text?: unknown };
  return typeof text === "string" ? text : "";
}
