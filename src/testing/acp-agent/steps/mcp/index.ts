/** The step that calls an MCP server of the session, directly or over ACP. */

import type { StepContext } from "../../step-context.ts";
import { type JsonObject, isObject, toObject } from "../../rpc.ts";
import { agentText } from "../../updates.ts";
import type { StepHandlers } from "../step-handlers.ts";
import { sendUpdate } from "../say.ts";
import type { AcpMcpStep } from "../steps.ts";
import { callOverAcp } from "./over-acp.ts";
import type { McpCall } from "./call.ts";

export const MCP_STEPS: Pick<StepHandlers, "callMcp"> = {
  async callMcp(step, context) {
    const words = await callMcp(step, context);
    if (step.echo !== false) await sendUpdate(context, agentText(words));
  },
};

/** Returns the result of the call, or its failure, as the text that the agent says. */
async function callMcp(step: AcpMcpStep, context: StepContext): Promise<string> {
  const { server: name, tool } = step;
  const server = context.agent.sessions.find(context.sessionId)?.mcpServers.find((given) => given["name"] === name);
  const called = tool === undefined ? name : `${name}.${tool}`;
  if (server === undefined) return `${called} failed: the session has no MCP server ${name}`;
  const call: McpCall = { tool, arguments: step.arguments ?? {} };
  try {
    const result = isOverAcp(server)
      ? await callOverAcp(server, call, step.dialect, context)
      : await (await import("./direct.ts")).callDirectServer(server, call, context.waitSignal);
    return `${called}: ${tool === undefined ? toolNames(result) : formatToolResult(result)}`;
  } catch (error) {
    context.waitSignal.throwIfAborted();
    return `${called} failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isOverAcp(server: JsonObject): boolean {
  const { type, url } = server;
  return type === "acp" || (typeof url === "string" && url.startsWith("acp:"));
}

function formatToolResult({ content, isError }: JsonObject): string {
  const parts = Array.isArray(content) ? content.map((part) => toObject(part)["text"]) : [];
  const text = parts.filter((part) => typeof part === "string").join("");
  return isError === true ? `error: ${text}` : text;
}

function toolNames({ tools }: JsonObject): string {
  return Array.isArray(tools)
    ? tools
        .filter(isObject)
        .map((tool) => String(tool["name"]))
        .join(", ")
    : "no tools";
}
