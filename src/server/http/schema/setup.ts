/** Schemas of what a folder configures: MCP servers and configuration values. */
import { z } from "zod";
import { MCP_STATUSES } from "../../../domain/index.ts";

const TRUST = z
  .enum(["nothing_to_trust", "trusted", "untrusted"])
  .describe("Files of an untrusted repository have no effect until a person runs `rookery trust`.");

export const McpServerSchema = z.object({
  name: z.string(),
  status: z
    .enum([...MCP_STATUSES, "disabled", "declared"])
    .describe("`declared`: the request did not ask to connect to it."),
  source: z.enum(["rookery.toml", "user", ".mcp.json"]),
  file: z.string().describe("The file that declares it."),
  reached: z.string().describe("The URL or the command. Secrets are masked."),
  reason: z.string().optional().describe("Why it is not ready."),
  fix: z.string().optional().describe("What a person can do about it."),
  tools: z.array(z.object({ name: z.string(), description: z.string() })).describe("Named as models call them."),
  prompts: z.array(z.string()),
  resources: z.array(z.string()).describe("URIs, or templates of URIs."),
});

export const McpServerListSchema = z.object({
  root: z.string().describe("The repository whose configuration applies."),
  trust: TRUST,
  connected: z.boolean(),
  servers: z.array(McpServerSchema),
});

const SCOPE = z.enum(["repository", ".mcp.json", "user"]);

export const ConfigDescriptionSchema = z.object({
  root: z.string().describe("The repository whose configuration applies."),
  trust: TRUST,
  files: z
    .array(z.object({ file: z.string(), scope: SCOPE, exists: z.boolean() }))
    .describe("Earlier files override later ones."),
  values: z
    .array(
      z.object({
        key: z.string().describe("The path of the value, such as `defaults.agent`."),
        value: z.unknown().describe("Secrets are masked."),
        file: z.string(),
        scope: SCOPE,
        applies: z.boolean().describe("False if another file overrides it, or the repository is not trusted."),
      }),
    )
    .describe("What the files set, sorted by key. Defaults are not listed."),
});

export const McpLoginSchema = z.object({
  server: z.string(),
  status: z
    .enum(["none", "not_needed", "waiting", "done", "declined", "cancelled", "failed"])
    .describe("`none`: no login was started. `not_needed`: the server is ready."),
  url: z.string().optional().describe("The page on which a person logs in. Set while it waits."),
  reason: z.string().optional(),
});

export const McpLogoutSchema = z.object({ server: z.string(), forgotten: z.boolean() });
