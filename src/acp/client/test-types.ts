/** A client that uses only the exported types. It has to compile without a cast. */
import {
  capabilitiesOf,
  connectClient,
  ConnectionClosed,
  PeerError,
  RPC,
  serveFiles,
  serveTerminals,
  startAgent,
  type Client,
  type ClientSession,
  type ClientTurn,
  type RequestItem,
  type schema,
  type SessionHandlers,
  type SessionItem,
  type SessionOptions,
  type UpdateItem,
} from "../index.ts";

type Chosen = schema.PermissionOption["kind"];

export class Editor implements SessionHandlers {
  readonly #kind: Chosen;

  constructor(kind: Chosen) {
    this.#kind = kind;
  }

  permission({ options }: schema.RequestPermissionRequest): schema.RequestPermissionResponse {
    const option = options.find(({ kind }) => kind === this.#kind);
    if (option === undefined) return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  }

  elicitation({ message }: schema.CreateElicitationRequest): schema.CreateElicitationResponse {
    return message === "" ? { action: "decline" } : { action: "accept", content: { answer: message } };
  }
}

export async function connect(command: readonly string[], cwd: string, signal?: AbortSignal): Promise<Client> {
  const agent = await startAgent({ command, cwd, env: {} });
  const serve: SessionOptions = {
    ...serveFiles({ roots: [cwd] }),
    terminal: serveTerminals({ roots: [cwd], env: {} }),
    permission: undefined,
    unhandled: "read",
  };
  return connectClient({
    transport: agent.transport,
    exit: () => agent.exit(),
    signal,
    serve,
    capabilities: { ...capabilitiesOf(serve), auth: { terminal: true } },
    onNoise: ({ kind, text }) => console.error(kind, text),
  });
}

export async function start(client: Client, cwd: string, signal?: AbortSignal): Promise<ClientSession> {
  const builder = client
    .session({ cwd, own: { extension: 1 } })
    .mcpServer({ name: "files", command: "/bin/files", args: [], env: [] })
    .mcpServer({ type: "http", name: "web", url: "https://mcp.example/", headers: [] })
    .mcpServer({ type: "telepathy", name: "mind", depth: 3 })
    .directories("/more")
    .meta({ trace: "1" })
    .serve(new Editor("allow_once"));
  const { sessions, nextCursor } = await client.listSessions({ cwd });
  const more = await client.listSessions({ cursor: nextCursor });
  const [known] = [...sessions, ...more.sessions];
  try {
    return await (known === undefined ? builder.create({ signal }) : builder.load(known.sessionId, { signal }));
  } catch (error) {
    if (!(error instanceof PeerError) || error.code !== RPC.authRequired) throw error;
    const [method] = client.authMethods;
    if (method !== undefined) await client.authenticate(method.id, { signal });
    return builder.create();
  }
}

export async function show(session: ClientSession, signal: AbortSignal): Promise<schema.StopReason | undefined> {
  const turn: ClientTurn = session.prompt([{ type: "text", text: "Hello" }], { signal });
  try {
    for await (const item of turn) answer(item);
    return await turn.stopReason;
  } catch (error) {
    if (error instanceof ConnectionClosed) console.error(error.exit?.exitCode, error.exit?.stderr);
    return undefined;
  }
}

/** The switch covers every kind of item, so that a missing one is a compile error. */
export function answer(item: SessionItem): string {
  switch (item.kind) {
    case "update":
      return getUpdateText(item);
    case "request":
      return refuse(item);
    case "stop":
      return item.response.stopReason;
  }
}

function getUpdateText({ when, update }: UpdateItem): string {
  if (when !== "turn" || update.sessionUpdate !== "agent_message_chunk") return "";
  return update.content.type === "text" ? update.content.text : "";
}

function refuse({ request, respond, fail }: Pick<RequestItem, "request" | "respond" | "fail">): string {
  if (request.method.startsWith("_")) respond({});
  else fail(new PeerError({ code: RPC.methodNotFound, message: request.method }));
  return request.method;
}
