/** Routes of what a folder configures: MCP servers and configuration values. */
import { listMcpServers } from "../mcp-servers.ts";
import { jsonResponse } from "../response.ts";
import { flagParam, route, type HttpRoute } from "../route.ts";
import { Folder, Name } from "../schema/common.ts";
import { ConfigDescriptionSchema, McpServerListSchema } from "../schema/setup.ts";

const cwd = Folder.meta({
  description: "A folder on the server's machine. Default: the server's working directory.",
});

export const setupRoutes: readonly HttpRoute[] = [
  route({
    method: "GET",
    path: "/v1/mcp",
    id: "listMcpServers",
    summary: "List the MCP servers that a folder declares.",
    tag: "server",
    query: {
      cwd,
      agent: Name.meta({ description: "Only servers that this agent gets." }),
      connect: flagParam("Start or ask each server to find its status and tools, for at most 15 seconds."),
    },
    responses: {
      200: {
        description: "All servers, except those that an untrusted repository declares.",
        schema: McpServerListSchema,
      },
    },
    errors: ["config_invalid", "cwd_missing", "agent_unknown"],
    async handle({ context, query }) {
      return jsonResponse(await listMcpServers(context.rookery, query));
    },
  }),
  route({
    method: "GET",
    path: "/v1/config",
    id: "describeConfig",
    summary: "Show the configuration of a folder as its files set it, with secrets masked.",
    tag: "server",
    query: { cwd },
    responses: { 200: { description: "Each value with its file.", schema: ConfigDescriptionSchema } },
    errors: ["config_invalid", "cwd_missing"],
    async handle({ context, query }) {
      return jsonResponse(await context.rookery.describeConfig(query.cwd));
    },
  }),
];
