/** The OpenAPI document, made from the same table and the same schemas that requests are checked with. */
import { z } from "zod";
import { SessionEvent, TaskEvent, type ErrorCode } from "../../domain/index.ts";
import type { Described, Route, Shape } from "./route.ts";
import { ROUTES } from "./routes/index.ts";
import * as common from "./schema/common.ts";
import * as server from "./schema/server.ts";
import * as session from "./schema/session.ts";
import * as task from "./schema/task.ts";
import { REFUSED, STATUS } from "./status.ts";

/** What the document calls each schema. */
const NAMES: Readonly<Record<string, z.ZodType>> = {
  Problem: common.ProblemSchema,
  Usage: common.UsageSchema,
  Pending: common.PendingSchema,
  Health: server.HealthSchema,
  Agent: server.AgentSchema,
  AgentList: server.AgentListSchema,
  SessionEvent,
  SessionSummary: session.SummarySchema,
  SessionList: session.SessionListSchema,
  OpenSession: session.OpenSessionBody,
  Prompt: session.PromptBody,
  Prompted: session.PromptedSchema,
  CloseSession: session.CloseBody,
  DeletedSession: session.DeletedSchema,
  EventPage: session.EventPageSchema,
  WaitingRequest: session.WaitingRequestSchema,
  RequestList: session.RequestListSchema,
  Answer: session.AnswerBody,
  TaskEvent,
  Task: task.TaskSchema,
  TaskList: task.TaskListSchema,
  StartTask: task.StartTaskBody,
  StopTask: task.StopTaskBody,
  ResumeTask: task.ResumeTaskBody,
  MergeTask: task.MergeTaskBody,
  MergeReport: task.MergeReportSchema,
  TaskDiff: task.TaskDiffSchema,
  RemovedTask: task.RemovedTaskSchema,
  CollectTasks: task.CollectBody,
  CollectReport: task.CollectReportSchema,
  LogEvent: task.LogEventSchema,
  FeedPage: task.FeedPageSchema,
};

type Json = Readonly<Record<string, unknown>>;

export function openApiDocument(version: string): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Rookery",
      version,
      description: "One durable runtime for coding agents: sessions, tasks, and the log of everything.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    tags: [
      { name: "server", description: "The server itself." },
      { name: "sessions", description: "Conversations with agents." },
      { name: "tasks", description: "Work given to agents, each in its own worktree." },
      { name: "events", description: "The logs, as pages and as streams." },
    ],
    paths: paths(),
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "In the file `token` of the server's home." },
      },
      schemas: components(),
    },
  };
}

function paths(): Json {
  const found: Record<string, Record<string, unknown>> = {};
  for (const row of ROUTES) {
    const path = row.path.replaceAll(/:(\w+)/g, "{$1}");
    found[path] = { ...found[path], [row.method.toLowerCase()]: operation(row) };
  }
  return found;
}

function operation(row: Route): Json {
  return {
    operationId: row.id,
    summary: row.summary,
    tags: [row.tag],
    parameters: [...parameters(row.params, "path"), ...parameters(row.query, "query"), ...headers(row)],
    ...(row.body !== undefined && { requestBody: { required: isRequired(row.body), content: jsonContent(row.body) } }),
    responses: { ...answers(row), ...problems(row) },
    ...(row.open === true && { security: [{}, { token: [] }] }),
  };
}

function parameters(shape: Shape | undefined, place: "path" | "query"): Json[] {
  return Object.entries(shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = inline(schema);
    const many = place === "query" && rest["type"] === "array" && { style: "form", explode: true };
    const told = typeof description === "string" && { description };
    return { name, in: place, required: place === "path", ...told, ...many, schema: rest };
  });
}

function headers({ method, stream, slow }: Route): Json[] {
  const cursor = {
    name: "Last-Event-ID",
    in: "header",
    schema: { type: "string" },
    description: "Of a stream: the last event one has.",
  };
  const key = { name: "Idempotency-Key", in: "header", schema: { type: "string", minLength: 8, maxLength: 100 } };
  const why =
    slow === true ? "With one, slow work answers 202 and is asked for again." : "What has the same is done once.";
  return [...(stream === undefined ? [] : [cursor]), ...(method === "GET" ? [] : [{ ...key, description: why }])];
}

const STREAMED = {
  type: "string",
  description:
    "Each event has its cursor as `id` and its JSON as `data`. One named `gone` or `failed` has a problem as `data`, and is the last.",
};

function answers({ answers: told, stream }: Route): Json {
  const described = ({ description, schema, type = "text/plain" }: Described): Json => {
    const plain = schema === undefined ? { [type]: { schema: { type: "string" } } } : jsonContent(schema);
    const events = stream && { "text/event-stream": { schema: STREAMED, "x-event-data": reference(stream) } };
    return { description, content: { ...plain, ...events } };
  };
  return Object.fromEntries(Object.entries(told).map(([status, answer]) => [status, described(answer)]));
}

function problems(row: Route): Json {
  const content = { "application/problem+json": { schema: reference(common.ProblemSchema) } };
  const entries = Array.from(
    codesOf(row),
    ([status, codes]) => [status, { description: `Code ${[...codes].sort().join(", ")}.`, content }] as const,
  );
  return Object.fromEntries(entries);
}

/** By status: those that each route may answer by what it takes, and its own. */
export function codesOf(row: Route): ReadonlyMap<number, ReadonlySet<string>> {
  const told = new Map<number, Set<string>>();
  const tell = (status: number, code: string): unknown => told.set(status, (told.get(status) ?? new Set()).add(code));
  for (const code of [...row.errors, ...OF_ALL, ...(row.method === "GET" ? [] : OF_CHANGES)]) tell(STATUS[code], code);
  for (const why of Object.keys(REFUSED) as (keyof typeof REFUSED)[])
    if (mayHappen(why, row)) tell(REFUSED[why].status, REFUSED[why].code);
  if (row.body !== undefined) tell(STATUS.input_too_large, "input_too_large");
  return told;
}

/** Also where no token is needed, a wrong one is refused. */
const OF_ALL: readonly ErrorCode[] = ["unauthorized", "internal", "store_unavailable", "store_closed", "store_locked"];
const OF_CHANGES: readonly ErrorCode[] = ["store_full", "store_readonly"];

function mayHappen(why: keyof typeof REFUSED, { body, stream }: Route): boolean {
  switch (why) {
    case "malformed":
    case "forbidden":
    case "closing":
    case "too_many_connections":
      return true;
    case "media_type":
      return body !== undefined;
    case "beyond_end":
      return stream !== undefined;
    case "no_route":
    case "wrong_method":
    case "too_slow":
    case "headers_too_large":
      return false; // of no route in particular
  }
}

function jsonContent(schema: z.ZodType): Json {
  return { "application/json": { schema: reference(schema) } };
}

function reference(schema: z.ZodType): Json {
  const [name] = Object.entries(NAMES).find(([, named]) => named === schema) ?? [];
  return name === undefined ? inline(schema) : { $ref: `#/components/schemas/${name}` };
}

/** Where nothing at all would do. */
function isRequired(schema: z.ZodType): boolean {
  return !schema.safeParse({}).success;
}

function inline(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  if (rest.type === "integer") delete rest.pattern; // a number in a query is text
  if (rest.type === "boolean") delete rest.enum;
  return rest;
}

function components(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMES)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    unrepresentable: "any",
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern; // the format says it
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}
