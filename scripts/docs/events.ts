/** The event reference, from the schemas of session and task events. */
import type { z } from "zod";
import { eventBodies } from "../../src/domain/events.ts";
import { taskEventBodies } from "../../src/domain/task/events.ts";
import { SESSION_EVENT_MEANINGS, TASK_EVENT_MEANINGS } from "./event-meanings.ts";
import { code, page, table } from "./markdown.ts";
import { describeType, jsonSchemaOf, type JsonSchema } from "./schema.ts";

export function eventPage(): string {
  return page("Events", "src/domain/events.ts and src/domain/task/events.ts", [
    "Sessions and tasks are logs of events. A session event has `seq`, `at`, `sessionId`, `agent`, `type` and, during a turn, `turnId`. A task event has `seq`, `at`, `taskId` and `type`. The tables list the fields of each type beside these. Fields in _italics_ are optional. Released events keep their meaning and fields; new fields are optional.",
    "## Session events",
    rows(eventBodies(), SESSION_EVENT_MEANINGS),
    "## Task events",
    rows(taskEventBodies(), TASK_EVENT_MEANINGS),
  ]);
}

function rows(bodies: Record<string, z.ZodType>, meanings: Readonly<Record<string, string>>): string {
  return table(
    ["type", "meaning", "fields"],
    Object.entries(bodies).map(([type, schema]) => [code(type), meanings[type] ?? "", fields(jsonSchemaOf(schema))]),
  );
}

function fields(schema: JsonSchema): string {
  const required = (schema["required"] ?? []) as string[];
  return Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>)
    .map(([name, field]) => {
      const isRequired = required.includes(name);
      return `${isRequired ? code(name) : `_${code(name)}_`} ${describeType(field)}`;
    })
    .join("; ");
}
