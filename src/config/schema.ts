/** What may stand in a `rookery.toml`. */
import { z } from "zod";
import { BACKEND_KINDS } from "../domain/backend.ts";
import { PermissionPolicy } from "../domain/events.ts";

const name = z.string().min(1);
const usdPerMillionTokens = z.number().nonnegative();

const AgentTable = z.strictObject({
  backend: z.enum(BACKEND_KINDS).optional(),
  model: name.optional(),
  permissions: PermissionPolicy.optional(),
  /** Files, relative to the one that names them. */
  prompts: z.array(name).optional(),
  tools: z.strictObject({ allow: z.array(name).optional(), deny: z.array(name).optional() }).optional(),
  command: z.array(name).nonempty().optional(),
  /** Instead of a command: what the registry of ACP agents calls it. */
  registry: name.optional(),
  /** Beside the environment that Rookery itself has. */
  env: z.record(z.string(), z.string()).optional(),
  /** The way to log in, where an ACP agent asks for one. */
  auth: name.optional(),
  /** What is done here for an ACP agent, within the folder and behind the permissions, instead of by itself. */
  serve: z.array(z.enum(["files", "terminals"])).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
});
export type AgentTable = z.infer<typeof AgentTable>;

const PriceTable = z.strictObject({
  input: usdPerMillionTokens,
  output: usdPerMillionTokens,
  cache_read: usdPerMillionTokens.optional(),
  cache_write: usdPerMillionTokens.optional(),
});
export type PriceTable = z.infer<typeof PriceTable>;

export const ConfigTable = z.strictObject({
  defaults: z.strictObject({ agent: name.optional(), max_running: z.int().positive().optional() }).optional(),
  agents: z.record(z.string().regex(/^[\w.-]+$/), AgentTable).optional(),
  worktree: z.strictObject({ setup: name.optional(), copy: z.array(name).optional() }).optional(),
  prices: z.record(name, PriceTable).optional(),
});
export type ConfigTable = z.infer<typeof ConfigTable>;
