/** What is said of the server itself. */
import { z } from "zod";

export const HealthSchema = z.object({
  ok: z.literal(true),
  version: z.string(),
  /** From here on: only who has the token is told. */
  pid: z.int().optional(),
  startedAt: z.string().optional(),
  drivenSessions: z.int().optional(),
  streams: z.int().optional(),
  tasks: z.record(z.string(), z.int()).optional().describe("How many there are in each phase."),
});

export const AgentSchema = z.object({
  name: z.string(),
  backend: z.string(),
  model: z.string().optional(),
  isDefault: z.boolean(),
  builtIn: z.boolean(),
  program: z
    .object({
      program: z.string(),
      path: z.string().optional(),
      from: z.enum(["configured", "path", "node_modules"]).optional(),
      version: z.string().optional(),
      tested: z.string().optional(),
      is: z.enum(["tested", "newer", "older", "unknown"]),
      login: z.unknown().optional(),
      known: z.array(z.string()),
      install: z.string().optional(),
    })
    .optional(),
});

export const AgentListSchema = z.object({ agents: z.array(AgentSchema) });
