/** A session's tools as an MCP server of this process: how agents that are other people's programs get them. */
import type { CallToolRequest, ListToolsRequest } from "@modelcontextprotocol/sdk/types.js";
import { newId } from "../../domain/ids.ts";
import type { InProcessServerSpec, McpTransport } from "../../domain/mcp.ts";
import type { ToolResult } from "../../domain/tools.ts";
import type { Artifact, PreparedCall } from "../../tools/index.ts";
import { Pages } from "./pages.ts";
import { progressTo } from "./progress.ts";
import { readLinked, resultOf } from "./result.ts";

export interface CatalogServerOptions {
  /** "rookery" if not said. */
  readonly name?: string | undefined;
  /** What the agent has at this moment, after its filter: nothing else can be seen or called. */
  readonly artifact: () => Artifact;
  /** Tells when the artifact may be another one; returns how to stop being told. */
  readonly onChange: (listener: () => void) => () => void;
  /**
   * Asks for permission, records, and runs it where it is to be run. It also gets what a plugin settled, for the record;
   * a tool that is not in the catalog never comes this far. Rejects when the signal fires.
   */
  readonly call: (prepared: PreparedCall, options: CallOptions) => Promise<ToolResult>;
  /** Undefined where they are gone. */
  readonly getBlob: (hash: string) => Promise<Uint8Array | undefined>;
}

export interface CallOptions {
  /** Fires when the client cancels the call, or its connection ends. */
  readonly signal: AbortSignal;
  readonly progress: (text: string) => void;
}

/** Give it to `LoopbackHttp.serve`, to `serveStdio`, or to whatever opens servers of this process. */
export function catalogServer(options: CatalogServerOptions): InProcessServerSpec {
  const { name = "rookery" } = options;
  return { type: "memory", name, open: () => openServer(name, options) };
}

async function openServer(name: string, { artifact, onChange, call, getBlob }: CatalogServerOptions) {
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- McpServer wants to know its tools beforehand, with schemas of zod
  const [{ Server }, schemas] = await Promise.all([
    import("@modelcontextprotocol/sdk/server/index.js"),
    import("@modelcontextprotocol/sdk/types.js"),
  ]);
  const { preamble } = artifact();
  const server = new Server(
    { name, version: "1" },
    {
      capabilities: { tools: { listChanged: true }, resources: {} },
      ...(preamble !== "" && { instructions: preamble }),
    },
  );
  const pages = new Pages();
  const linked = new Set<string>();
  const invalidParams = (message: string) => new schemas.McpError(schemas.ErrorCode.InvalidParams, message);

  server.setRequestHandler(schemas.ListToolsRequestSchema, ({ params }: ListToolsRequest) => {
    const page = pages.page(artifact, params?.cursor);
    if (page === undefined) throw invalidParams("there is no such page; begin again without a cursor");
    return page;
  });
  server.setRequestHandler(schemas.CallToolRequestSchema, async ({ params }: CallToolRequest, extra) => {
    const { signal, _meta, sendNotification } = extra;
    const asked = { toolId: newId("tool"), name: params.name, input: params.arguments ?? {} };
    const prepared = await artifact().prepare(asked, { signal });
    using progress = progressTo(_meta?.progressToken, sendNotification);
    const unknown = prepared.kind === "settled" && prepared.spec === undefined;
    const result = unknown ? prepared.result : await call(prepared, { signal, progress: (text) => progress.say(text) });
    return await resultOf(result, { spec: prepared.spec, getBlob, linked });
  });
  server.setRequestHandler(schemas.ListResourcesRequestSchema, () => ({ resources: [] }));
  server.setRequestHandler(schemas.ReadResourceRequestSchema, async ({ params }) => {
    const contents = await readLinked(params.uri, { getBlob, linked });
    if (contents === undefined) throw invalidParams(`there is no resource ${params.uri}`);
    return { contents: [contents] };
  });

  return {
    async connect(transport: McpTransport): Promise<void> {
      let told = artifact();
      const stop = onChange(() => {
        const now = artifact();
        if (now === told) return;
        told = now;
        // Who has not said hello yet lists later; who does not listen now gets the present tools when it lists again.
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
