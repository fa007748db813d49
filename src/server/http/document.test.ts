import { Validator } from "@seriousme/openapi-schema-validator";
import { expect, it } from "vitest";
import { openApiDocument } from "./document.ts";
import { ROUTES } from "./routes/index.ts";
import { openHttp } from "./test-scene.ts";

type Paths = Record<string, Record<string, { operationId: string; responses: Record<string, unknown> }>>;

it("is a valid OpenAPI 3.1 document", async () => {
  const result = await new Validator().validate(structuredClone(openApiDocument("1")));
  expect(result).toEqual({ valid: true });
});

it("describes every route with all its error codes", () => {
  const { paths } = openApiDocument("1") as { paths: Paths };
  const described = Object.values(paths).flatMap((methods) => Object.values(methods));
  expect(described.map(({ operationId }) => operationId).sort()).toEqual(ROUTES.map(({ id }) => id).sort());
  for (const { operationId, responses } of described) {
    expect(Object.keys(responses), operationId).toEqual(expect.arrayContaining(["400", "403", "500", "503"]));
  }
  expect(paths["/v1/tasks/{id}"]?.["delete"]?.responses).toMatchObject({
    409: { description: "Code repository_locked, task_state, worktree_unmerged." },
  });
});

it("describes events as unions and has no dangling references", () => {
  const text = JSON.stringify(openApiDocument("1"));
  const { components } = openApiDocument("1") as { components: { schemas: Record<string, { oneOf?: unknown[] }> } };
  expect(components.schemas["SessionEvent"]?.oneOf?.length).toBeGreaterThan(30);
  expect(components.schemas["TaskEvent"]?.oneOf?.length).toBeGreaterThan(15);
  const references = [...text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(([, name = ""]) => name);
  expect(references.filter((name) => !(name in components.schemas))).toEqual([]);
  expect(text).not.toContain("$defs");
});

it("is served to clients with the token", async () => {
  await using scene = await openHttp();
  const { json, headers } = await scene.get("/openapi.json");
  expect(json).toMatchObject({ openapi: "3.1.0", info: { version: "1.2.3" } });
  expect(headers.get("content-type")).toContain("application/json");
});
