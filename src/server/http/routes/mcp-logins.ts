/** Routes that log in to MCP servers and out of them. */
import { z } from "zod";
import { jsonResponse } from "../response.ts";
import { route, type HttpRoute } from "../route.ts";
import { Folder, Name } from "../schema/common.ts";
import { McpLoginSchema, McpLogoutSchema } from "../schema/setup.ts";

const params = { name: Name };
const cwd = Folder.meta({
  description: "A folder on the server's machine. Default: the server's working directory.",
});
const body = z.strictObject({ cwd: cwd.optional() });
const errors = ["config_invalid", "cwd_missing", "mcp_unknown", "usage"] as const;

export const mcpLoginRoutes: readonly HttpRoute[] = [
  route({
    method: "POST",
    path: "/v1/mcp/:name/login",
    id: "startMcpLogin",
    summary: "Start a login to an MCP server, for a person who opens its page on the server's machine.",
    tag: "server",
    params,
    body,
    responses: {
      200: {
        description: "The page of the login, which waits for 5 minutes; or no login is needed.",
        schema: McpLoginSchema,
      },
    },
    errors: [...errors, "mcp_unavailable"],
    async handle({ context, params: { name }, body: { cwd: folder } }) {
      return jsonResponse(await context.logins.start(name, folder));
    },
  }),
  route({
    method: "GET",
    path: "/v1/mcp/:name/login",
    id: "showMcpLogin",
    summary: "Show the status of the last login to an MCP server.",
    tag: "server",
    params,
    query: { cwd },
    responses: { 200: { description: "The login that this server started last.", schema: McpLoginSchema } },
    errors: [],
    handle({ context, params: { name }, query }) {
      return Promise.resolve(jsonResponse(context.logins.read(name, query.cwd)));
    },
  }),
  route({
    method: "POST",
    path: "/v1/mcp/:name/logout",
    id: "logOutOfMcpServer",
    summary: "Revoke and delete the tokens of an MCP server.",
    tag: "server",
    params,
    body,
    responses: { 200: { description: "Whether there were tokens.", schema: McpLogoutSchema } },
    errors,
    async handle({ context, params: { name }, body: { cwd: folder } }) {
      return jsonResponse({ server: name, forgotten: await context.logins.logOut(name, folder) });
    },
  }),
];
