/** The schema of the state of a session. */
import { z } from "zod";
import {
  AgentDefinition,
  Budget,
  InputPart,
  PermissionPolicy,
  SessionEvent,
  ToolKind,
  TurnOutcome,
  type SessionState,
} from "../../../domain/index.ts";
import { UsageSchema } from "./common.ts";

const Cost = UsageSchema as unknown as z.ZodType<SessionState["usage"]>;

const amounts = {
  usd: z.number().optional(),
  tokens: z.number().optional(),
  steps: z.number().optional(),
  seconds: z.number().optional(),
};

/** A state as the log folds to it, so that a reader can apply later events with the same code. */
export const SessionStateSchema = z.object({
  id: z.string(),
  head: z.int().describe("The `seq` of the last event in the state. Skip events up to it."),
  agent: z.string(),
  backend: z.string(),
  model: z.string().optional(),
  cwd: z.string(),
  title: z.string().optional(),
  parent: z.string().optional(),
  depth: z.int(),
  task: z.string().optional(),
  nativeId: z.string().optional().describe("The program's own id of this session."),
  forkOf: z.string().optional(),
  permissions: PermissionPolicy,
  agents: z
    .record(
      z.string(),
      z.object({ backend: z.string(), model: z.string().optional(), modelChosen: z.boolean().optional() }),
    )
    .describe("The settings of each agent when it last drove the session."),
  createdAt: z.string(),
  updatedAt: z.string(),
  closed: z.boolean(),
  copying: z.boolean(),
  turns: z.int(),
  turn: z
    .object({
      id: z.string(),
      startedSeq: z.int(),
      startedAt: z.string(),
      input: z.array(InputPart),
      parkedUntil: z.string().optional(),
      parks: z.int(),
      usage: Cost,
      cancelRequested: z.boolean(),
    })
    .optional()
    .describe("The running turn."),
  lastOutcome: TurnOutcome.optional(),
  lastTurnId: z.string().optional(),
  queue: z.array(z.object({ inputId: z.string(), input: z.array(InputPart), deliver: z.enum(["steer", "follow_up"]) })),
  requests: z
    .array(
      z.object({
        requestId: z.string(),
        turnId: z.string().optional(),
        toolId: z.string().optional(),
        tool: z.string().optional(),
        title: z.string(),
        answer: SessionEvent.optional().describe("The event with the answer."),
      }),
    )
    .describe("Requests of the running turn, answered or not, and open requests from between turns."),
  requestCount: z.int(),
  definitions: z
    .record(z.string(), AgentDefinition)
    .describe("Agents that a program defined for this session, by name."),
  toolChoices: z.record(z.string(), z.boolean()),
  pluginStates: z.record(z.string(), z.object({ version: z.string(), state: z.unknown() })),
  grants: z.array(z.string()).describe("Tools that a person allowed for the rest of the session."),
  commandGrants: z
    .array(z.object({ tool: z.string(), prefix: z.string() }))
    .describe("Commands that a person allowed for the rest of the session, by their first words."),
  tools: z
    .array(z.object({ toolId: z.string(), turnId: z.string().optional(), name: z.string(), kind: ToolKind }))
    .describe("Running tools."),
  subagents: z.array(
    z.object({ childSessionId: z.string(), turnId: z.string().optional(), outcome: TurnOutcome.optional() }),
  ),
  usage: Cost,
  usageOfSubagents: Cost,
  usageByAgent: z.record(z.string(), Cost),
  budgets: z.object({
    session: Budget.optional(),
    task: z.object({ budget: Budget, elsewhere: z.object(amounts) }).optional(),
    raised: z.record(z.string(), z.number().nullable()),
  }),
  work: z.object({
    byAgent: z.record(z.string(), z.object({ steps: z.int(), ranMs: z.number() })),
    since: z.string().optional(),
  }),
});
