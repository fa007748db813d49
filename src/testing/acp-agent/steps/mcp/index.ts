/** The step that uses an MCP server which the session was set up with, whatever way leads to it. */

import type { Scene } from "../../scene.ts";
import type { JsonObject } from "../../script.ts";
import { isObject, objectOr } from "../../rpc.ts";
import { agentText } from "../../updates.ts";
import type { Players } from "../play.ts";
import { sendUpdate } from "../speech.ts";
import type { McpStep } from "../steps.ts";
import { callOverAcp } from "./over-acp.ts";

export type McpCall = { readonly tool: string | undefined; readonly arguments: JsonObject };

export const MCP: Pick<Players, "callMcp"> = {
  async callMcp(step, scene) {
    const words = await callMcp(step, scene);
    if (step.echo !== false) await sendUpdate(scene, agentText(words));
  },
};

/** What the server answered, or what went wrong, as the agent would say it. */
async function callMcp(step: McpStep, scene: Scene): Promise<string> {
  const { server: name, tool } = step;
  const server = scene.stage.sessions.find(scene.sessionId)?.mcpServers.find((given) => given["name"] === name);
  const called = tool === undefined ? name : `${name}.${tool}`;
  if (server === undefined) return `${called} failed: the session has no MCP server ${name}`;
  const call: McpCall = { tool, arguments: step.arguments ?? {} };
  try {
    const result = isOverAcp(server)
      ? await callOverAcp(server, call, step.dialect, scene)
      : await (await import("./connected.ts")).callConnected(server, call, scene.waiting);
    return `${called}: ${tool === undefined ? toolNames(result) : textOf(result)}`;
  } catch (error) {
    scene.waiting.throwIfAborted();
    return `${called} failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function isOverAcp(server: JsonObject): boolean {
  const { type, url } = server;
  return type === "acp" || (typeof url === "string" && url.startsWith("acp:"));
}

function textOf({ content, isError }: JsonObject): string {
  const parts = Array.isArray(content) ? content.map((part) => objectOr(part)["text"]) : [];
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
