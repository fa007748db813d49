/** Builds the OpenAPI document from the same route table and schemas that validate requests. */
import { z } from "zod";
import { BlobPart, SessionEvent, TaskEvent, type ErrorCode } from "../../domain/index.ts";
import type { ResponseDescription, HttpRoute, ParamShape } from "./route.ts";
import { ROUTES } from "./routes/index.ts";
import * as common from "./schema/common.ts";
import * as roster from "./schema/roster.ts";
import * as search from "./schema/search.ts";
import * as server from "./schema/server.ts";
import * as session from "./schema/session.ts";
import * as sessionState from "./schema/session-state.ts";
import * as setup from "./schema/setup.ts";
import * as task from "./schema/task.ts";
import * as usage from "./schema/usage.ts";
import * as worker from "./schema/worker.ts";
import { REFUSED, STATUS } from "./status.ts";

/** The name of each schema in the document. */
const SCHEMA_NAMES: Readonly<Record<string, z.ZodType>> = {
  Problem: common.ProblemSchema,
  Usage: common.UsageSchema,
  Pending: common.PendingSchema,
  Health: server.HealthSchema,
  Agent: server.AgentSchema,
  AgentList: server.AgentListSchema,
  McpServer: setup.McpServerSchema,
  McpServerList: setup.McpServerListSchema,
  McpLogin: setup.McpLoginSchema,
  ConfigDescription: setup.ConfigDescriptionSchema,
  SessionEvent,
  SessionSummary: session.SummarySchema,
  SessionState: sessionState.SessionStateSchema,
  SessionList: session.SessionListSchema,
  OpenSession: session.OpenSessionBody,
  Prompt: session.PromptBody,
  Prompted: session.PromptedSchema,
  CloseSession: session.CloseBody,
  DeletedSession: session.DeletedSchema,
  EventPage: session.EventPageSchema,
  SearchResult: search.SearchResultSchema,
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
  SessionDiff: task.SessionDiffSchema,
  RemovedTask: task.RemovedTaskSchema,
  CollectTasks: task.CollectBody,
  CollectReport: task.CollectReportSchema,
  LogEvent: task.LogEventSchema,
  FeedPage: task.FeedPageSchema,
  BlobPart,
  UsageRow: usage.UsageRowSchema,
  UsageReport: usage.UsageReportSchema,
  RosterTask: roster.RosterTaskSchema,
  Roster: roster.RosterSchema,
  Worker: worker.WorkerSchema,
  WorkerList: worker.WorkerListSchema,
};

type Json = Readonly<Record<string, unknown>>;

export function openApiDocument(version: string): Json {
  return {
    openapi: "3.1.0",
    info: {
      title: "Rookery",
      version,
      description: "One durable runtime for coding agents: sessions, tasks and their event logs.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    tags: [
      { name: "server", description: "Health, agents, metrics and this document." },
      { name: "sessions", description: "Conversations with agents." },
      { name: "tasks", description: "Work that agents do, each task in its own worktree." },
      { name: "events", description: "Event logs, as pages and as streams." },
    ],
    paths: buildPaths(),
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "The token is in the file `token` in the server's home directory.",
        },
      },
      schemas: buildComponents(),
    },
  };
}

function buildPaths(): Json {
  const found: Record<string, Record<string, unknown>> = {};
  for (const route of ROUTES) {
    const path = route.path.replaceAll(/:(\w+)/g, "{$1}");
    found[path] = { ...found[path], [route.method.toLowerCase()]: buildOperation(route) };
  }
  return found;
}

function buildOperation(route: HttpRoute): Json {
  return {
    operationId: route.id,
    summary: route.summary,
    tags: [route.tag],
    parameters: [
      ...buildParameters(route.params, "path"),
      ...buildParameters(route.query, "query"),
      ...buildHeaders(route),
    ],
    ...(route.body !== undefined && {
      requestBody: { required: isRequired(route.body), content: jsonContent(route.body) },
    }),
    ...(route.upload !== undefined && {
      requestBody: {
        required: true,
        description: route.upload.description,
        content: { "*/*": { schema: { type: "string", format: "binary" } } },
      },
    }),
    responses: { ...buildResponses(route), ...buildProblems(route) },
    ...(route.open === true && { security: [{}, { token: [] }] }),
  };
}

function buildParameters(shape: ParamShape | undefined, location: "path" | "query"): Json[] {
  return Object.entries(shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = toInlineSchema(schema);
    const many = location === "query" && rest["type"] === "array" && { style: "form", explode: true };
    const described = typeof description === "string" && { description };
    return { name, in: location, required: location === "path", ...described, ...many, schema: rest };
  });
}

function buildHeaders({ method, stream, slow, upload }: HttpRoute): Json[] {
  const cursor = {
    name: "Last-Event-ID",
    in: "header",
    schema: { type: "string" },
    description: "For streams: the id of the last event that the client has received.",
  };
  const key = { name: "Idempotency-Key", in: "header", schema: { type: "string", minLength: 8, maxLength: 100 } };
  const description =
    slow === true
      ? "Makes retries safe. If the work is slow, the server responds with 202: repeat the request with the same key."
      : "Makes retries safe: the server handles requests with the same key once.";
  return [
    ...(stream === undefined ? [] : [cursor]),
    ...(method === "GET" || upload !== undefined ? [] : [{ ...key, description }]),
  ];
}

const STREAM_SCHEMA = {
  type: "string",
  description:
    "Each event has its cursor as `id` and its JSON as `data`. The stream ends with an event named `gone` or `failed` if it fails; its `data` is a problem.",
};

function buildResponses({ responses, stream }: HttpRoute): Json {
  const describe = ({ description, schema, type = "text/plain" }: ResponseDescription): Json => {
    const plain = schema === undefined ? { [type]: { schema: { type: "string" } } } : jsonContent(schema);
    const events = stream && {
      "text/event-stream": { schema: STREAM_SCHEMA, "x-event-data": toSchemaReference(stream) },
    };
    return { description, content: { ...plain, ...events } };
  };
  return Object.fromEntries(Object.entries(responses).map(([status, response]) => [status, describe(response)]));
}

function buildProblems(route: HttpRoute): Json {
  const content = { "application/problem+json": { schema: toSchemaReference(common.ProblemSchema) } };
  const entries = Array.from(
    listProblemCodes(route),
    ([status, codes]) => [status, { description: `Code ${[...codes].sort().join(", ")}.`, content }] as const,
  );
  return Object.fromEntries(entries);
}

/** The error codes that a route can respond with, by HTTP status. */
export function listProblemCodes(route: HttpRoute): ReadonlyMap<number, ReadonlySet<string>> {
  const codes = new Map<number, Set<string>>();
  const add = (status: number, code: string): unknown => codes.set(status, (codes.get(status) ?? new Set()).add(code));
  for (const code of [...route.errors, ...COMMON_CODES, ...(route.method === "GET" ? [] : WRITE_CODES)])
    add(STATUS[code], code);
  for (const reason of Object.keys(REFUSED) as (keyof typeof REFUSED)[])
    if (canRefuse(reason, route)) add(REFUSED[reason].status, REFUSED[reason].code);
  if (route.body !== undefined || route.upload !== undefined) add(STATUS.input_too_large, "input_too_large");
  return codes;
}

/** Includes `unauthorized` for routes that need no token, because a wrong token is refused there too. */
const COMMON_CODES: readonly ErrorCode[] = [
  "unauthorized",
  "internal",
  "store_unavailable",
  "store_closed",
  "store_locked",
];
const WRITE_CODES: readonly ErrorCode[] = ["store_full", "store_readonly"];

function canRefuse(reason: keyof typeof REFUSED, { id, body, stream }: HttpRoute): boolean {
  switch (reason) {
    case "malformed":
    case "forbidden":
    case "closing":
    case "too_many_connections":
      return true;
    case "not_ready":
      return id === "ready";
    case "media_type":
      return body !== undefined;
    case "beyond_end":
      return stream !== undefined;
    case "no_route":
    case "wrong_method":
    case "too_slow":
    case "headers_too_large":
      return false; // these happen before a route is found
  }
}

function jsonContent(schema: z.ZodType): Json {
  return { "application/json": { schema: toSchemaReference(schema) } };
}

function toSchemaReference(schema: z.ZodType): Json {
  const [name] = Object.entries(SCHEMA_NAMES).find(([, named]) => named === schema) ?? [];
  return name === undefined ? toInlineSchema(schema) : { $ref: `#/components/schemas/${name}` };
}

/** Whether an empty body is invalid. */
function isRequired(schema: z.ZodType): boolean {
  return !schema.safeParse({}).success;
}

function toInlineSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  if (rest.type === "integer") delete rest.pattern; // a number in a query arrives as text
  if (rest.type === "boolean") delete rest.enum;
  return rest;
}

function buildComponents(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(SCHEMA_NAMES)) registry.add(schema, { id });
  const { schemas } = z.toJSONSchema(registry, {
    io: "input",
    unrepresentable: "any",
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => {
      if (jsonSchema.format === "date-time") delete jsonSchema.pattern; // the format implies it
    },
  });
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}
