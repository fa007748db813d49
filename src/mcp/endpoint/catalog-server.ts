/** Serves a session's tools as an MCP server of this process, for agents in other programs. */
import type { CallToolRequest, ListToolsRequest } from "@modelcontextprotocol/sdk/types.js";
import { newId } from "../../domain/ids.ts";
import type { InProcessServerSpec, McpTransport } from "../../domain/mcp.ts";
import type { ToolResult } from "../../domain/tools.ts";
import type { ToolSnapshot, PreparedCall } from "../../tools/index.ts";
import { ToolPages } from "./pages.ts";
import { makeProgressReporter } from "./progress.ts";
import { readLinked, toCallToolResult } from "./result.ts";

export interface CatalogServerOptions {
  /** Default: "rookery". */
  readonly name?: string | undefined;
  /** Returns the agent's current tools after its filter. Nothing else can be seen or called. */
  readonly snapshot: () => ToolSnapshot;
  /** Subscribes to possible changes of the snapshot. Returns a function that unsubscribes. */
  readonly onChange: (listener: () => void) => () => void;
  /**
   * Asks for permission, records the call and runs it. Also receives calls that a plugin settled, so that they are
   * recorded, but never calls to unknown tools. Rejects when the signal fires.
   */
  readonly call: (prepared: PreparedCall, options: CallOptions) => Promise<ToolResult>;
  /** Resolves with undefined if the blob is missing. */
  readonly getBlob: (hash: string) => Promise<Uint8Array | undefined>;
}

export interface CallOptions {
  /** Fires when the client cancels the call or disconnects. */
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/** Pass the result to `LoopbackHttp.serve`, to `serveStdio`, or to anything that opens in-process servers. */
export function catalogServer(options: CatalogServerOptions): InProcessServerSpec {
  const { name = "rookery" } = options;
  return { type: "memory", name, open: () => openServer(name, options) };
}

async function openServer(name: string, { snapshot, onChange, call, getBlob }: CatalogServerOptions) {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- McpServer needs its tools up front, with zod schemas
  const [{ Server }, schemas] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const { preamble } = snapshot();
  const server = new Server(
    { name, version: "1" },
    {
      capabilities: { tools: { listChanged: true }, resources: {} },
      ...(preamble !== "" && { instructions: preamble }),
    },
  );
  const pages = new ToolPages();
  const linked = new Set<string>();
  const invalidParams = (message: string) => new schemas.McpError(schemas.ErrorCode.InvalidParams, message);

  server.setRequestHandler(schemas.ListToolsRequestSchema, ({ params }: ListToolsRequest) => {
    const page = pages.page(snapshot, params?.cursor);
    if (page === undefined) throw invalidParams("there is no such page; start again without a cursor");
    return page;
  });
  server.setRequestHandler(schemas.CallToolRequestSchema, async ({ params }: CallToolRequest, extra) => {
    const { signal, _meta, sendNotification } = extra;
    const toolCall = { toolId: newId("tool"), name: params.name, input: params.arguments ?? {} };
    const prepared = await snapshot().prepare(toolCall, { signal });
    using progress = makeProgressReporter(_meta?.progressToken, sendNotification);
    const unknown = prepared.kind === "settled" && prepared.spec === undefined;
    const result = unknown
      ? prepared.result
      : await call(prepared, { signal, progress: (text) => progress.report(text) });
    return await toCallToolResult(result, { spec: prepared.spec, getBlob, linked });
  });
  server.setRequestHandler(schemas.ListResourcesRequestSchema, () => ({ resources: [] }));
  server.setRequestHandler(schemas.ReadResourceRequestSchema, async ({ params }) => {
    const contents = await readLinked(params.uri, { getBlob, linked });
    if (contents === undefined) throw invalidParams(`there is no resource ${params.uri}`);
    return { contents: [contents] };
  });

  return {
    async connect(transport: McpTransport): Promise<void> {
      let announced = snapshot();
      const stop = onChange(() => {
        const now = snapshot();
        if (now === announced) return;
        announced = now;
        // A client that has not initialized yet lists later. One without an open stream gets the current tools when it
        // lists again.
        if (server.getClientCapabilities() !== undefined) server.sendToolListChanged().catch(() => undefined);
      });
      server.onclose = stop;
      try {
        await server.connect(transport);
      } catch (error) {
        stop();
        throw error;
      }
    },
  };
}
