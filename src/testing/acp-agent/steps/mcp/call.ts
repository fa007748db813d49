/** A call of an MCP tool. */

import type { JsonObject } from "../../rpc.ts";

/** Without a tool, the call lists the tools. */
export type McpCall = { readonly tool: string | undefined; readonly arguments: JsonObject };
