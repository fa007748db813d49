/** The HTTP reference, from the table of routes that also makes the OpenAPI document. */
import { listProblemCodes } from "../../src/server/http/document.ts";
import type { HttpRoute } from "../../src/server/http/route.ts";
import { ROUTES } from "../../src/server/http/routes/index.ts";
import { code, page, table } from "./markdown.ts";
import { describeType, jsonSchemaOf } from "./schema.ts";

export function httpPage(): string {
  return page("HTTP reference", "src/server/http/routes/", [
    "`GET /openapi.json` returns the same as an OpenAPI 3.1 document. [The server](../server.md) explains authentication, streams and idempotency keys; [Error codes](errors.md) explains the codes.",
    table(
      ["route", "what it does"],
      ROUTES.map((route) => [code(`${route.method} ${route.path}`), route.summary]),
    ),
    ...ROUTES.map(section),
  ]);
}

function section(route: HttpRoute): string {
  const body = route.body === undefined ? [] : fields("body", jsonSchemaOf(route.body));
  const query = Object.entries(route.query ?? {}).map(([name, schema]) => {
    const { description, ...rest } = jsonSchemaOf(schema);
    return [code(name), "query", describeType(rest), typeof description === "string" ? description : ""];
  });
  return [
    `## ${route.method} ${route.path}`,
    route.summary,
    table(["parameter", "in", "type", "meaning"], [...query, ...body]),
    table(
      ["status", "meaning"],
      [
        ...Object.entries(route.responses).map(([status, { description }]) => [status, description]),
        ...[...listProblemCodes(route)]
          .toSorted(([one], [other]) => one - other)
          .map(([status, codes]) => [String(status), [...codes].sort().map(code).join(", ")]),
      ],
    ),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function fields(place: string, schema: Readonly<Record<string, unknown>>): string[][] {
  const properties = (schema["properties"] ?? {}) as Record<string, Record<string, unknown>>;
  const required = (schema["required"] ?? []) as string[];
  return Object.entries(properties).map(([name, { description, ...rest }]) => [
    code(name),
    required.includes(name) ? `${place}, required` : place,
    describeType(rest),
    typeof description === "string" ? description : "",
  ]);
}
