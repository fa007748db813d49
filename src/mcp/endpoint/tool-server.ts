/** Serves functions of this process as the tools of an MCP server. Their input is checked against strict schemas. */
import type { CallToolRequest, CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { isRookeryError, messageOf } from "../../domain/errors.ts";
import type { InProcessServerSpec, McpTransport } from "../../domain/mcp.ts";

export interface ServedTool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType;
  /** It changes nothing. Default: false. */
  readonly readOnly?: boolean;
  /** It can change or end something for good. Default: false. */
  readonly destructive?: boolean;
  /** Receives what `input` parsed. A rejection becomes an error result with the code and the message. */
  readonly run: (input: never, options: { readonly signal: AbortSignal }) => Promise<object>;
}

/** Checks that `run` accepts what `input` parses. */
export function servedTool<Input>(
  tool: Omit<ServedTool, "input" | "run"> & {
    readonly input: z.ZodType<Input>;
    readonly run: (input: Input, options: { readonly signal: AbortSignal }) => Promise<object>;
  },
): ServedTool {
  return tool;
}

export interface ToolServerOptions {
  readonly name: string;
  readonly version: string;
  /** What the model should know before it uses the tools. */
  readonly instructions: string;
  readonly tools: readonly ServedTool[];
}

export function toolServer({ name, version, instructions, tools }: ToolServerOptions): InProcessServerSpec {
  return {
    type: "memory",
    name,
    async open() {
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- McpServer converts schemas itself, not strictly
      const [{ Server }, schemas] = await Promise.all([
        import("@modelcontextprotocol/sdk/server/index.js"),
        import("@modelcontextprotocol/sdk/types.js"),
      ]);
      const server = new Server({ name, version }, { capabilities: { tools: {} }, instructions });
      server.setRequestHandler(schemas.ListToolsRequestSchema, () => ({ tools: tools.map(toMcpTool) }));
      server.setRequestHandler(schemas.CallToolRequestSchema, ({ params }: CallToolRequest, { signal }) => {
        const tool = tools.find((each) => each.name === params.name);
        if (tool === undefined) {
          throw new schemas.McpError(schemas.ErrorCode.InvalidParams, `there is no tool ${params.name}`);
        }
        return callTool(tool, params.arguments ?? {}, signal);
      });
      return { connect: (transport: McpTransport) => server.connect(transport) };
    },
  };
}

function toMcpTool({ name, description, input, readOnly = false, destructive = false }: ServedTool): Tool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  const annotations = { readOnlyHint: readOnly, destructiveHint: destructive, openWorldHint: false };
  return { name, description, inputSchema: inputSchema as Tool["inputSchema"], annotations };
}

async function callTool({ input, run }: ServedTool, given: unknown, signal: AbortSignal): Promise<CallToolResult> {
  const parsed = input.safeParse(given);
  if (!parsed.success) return toErrorResult("input_invalid", formatIssues(parsed.error));
  try {
    const result = await run(parsed.data as never, { signal });
    return { content: [{ type: "text", text: JSON.stringify(result) }], structuredContent: { ...result } };
  } catch (error) {
    return toErrorResult(isRookeryError(error) ? error.code : "internal", messageOf(error));
  }
}

function toErrorResult(code: string, message: string): CallToolResult {
  return {
    isError: true,
    content: [{ type: "text", text: `${code}: ${message}` }],
    structuredContent: { code, message },
  };
}

function formatIssues({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`)).join("; ");
}
