/** Schemas of the server routes. */
import { z } from "zod";

export const HealthSchema = z.object({
  ok: z.literal(true),
  version: z.string(),
  /** This field and the ones below are only sent to clients with the token. */
  pid: z.int().optional(),
  startedAt: z.string().optional(),
  drivenSessions: z.int().optional(),
  streams: z.int().optional(),
  tasks: z.record(z.string(), z.int()).optional().describe("Number of tasks in each phase."),
});

export const ReadySchema = z.object({ ready: z.literal(true) });

export const AgentSchema = z.object({
  name: z.string(),
  backend: z.string(),
  model: z.string().optional(),
  isDefault: z.boolean(),
  builtIn: z.boolean(),
  ready: z.boolean().describe("Whether the agent has its key, program and login in the environment of the server."),
  missing: z.string().optional().describe("What an agent that is not ready needs."),
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

export const TicketSchema = z.object({
  url: z.string().describe("Open it in a browser. It works once."),
  expiresAt: z.string(),
});
