import { expect, it } from "vitest";
import { Random } from "../../programs/test-fuzz.ts";
import { mutateLine, mutationsOf } from "../../programs/test-mutations.ts";
import { say } from "../../testing/index.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

const isWhole = process.env["ROOKERY_FUZZ"] === "all";
const CASES = isWhole ? 2_000 : 60;
const FIRST_SEED = Number(process.env["ROOKERY_FUZZ_SEED"] ?? 1);

/** Valid bodies for all routes that accept one. `:id` stands for a session id, `:task` for the id of a missing task. */
const BODIES: readonly [method: string, path: string, body: object][] = [
  ["POST", "/v1/sessions", { agent: "anthropic", permissions: "read", title: "a", cwd: "." }],
  ["POST", "/v1/sessions/:id/turns", { input: "hi" }],
  ["POST", "/v1/sessions/:id/turns", { input: [{ type: "text", text: "hi" }], queue: true, deliver: "steer" }],
  ["POST", "/v1/sessions/:id/cancel", {}],
  ["POST", "/v1/sessions/ses_absent/close", { reason: "a" }],
  ["POST", "/v1/tickets", {}],
  ["POST", "/v1/sign-out", {}],
  ["PATCH", "/v1/sessions/:id", { permissions: "ask", model: "anthropic/claude-sonnet-4-5" }],
  ["PUT", "/v1/sessions/:id/conversation", { messages: [{ role: "user", text: "a" }] }],
  [
    "PUT",
    "/v1/sessions/:id/conversation",
    {
      messages: [
        { role: "user", parts: [{ type: "text", text: "a" }] },
        { role: "assistant", text: "", thought: "b", toolCalls: [{ toolId: "c", name: "d", input: { e: 1 } }] },
        { role: "tool", results: [{ toolId: "c", text: "f", outcome: "ok", blobs: [] }] },
      ],
    },
  ],
  ["POST", "/v1/sessions/:id/resume", {}],
  ["POST", "/v1/sessions/:id/fork", { title: "b", cwd: ".", through: 1 }],
  ["POST", "/v1/sessions/:id/requests/r1", { decision: "allow", scope: "once", message: "c" }],
  ["POST", "/v1/sessions/:id/requests/r1", { action: "accept", content: { a: 1 } }],
  ["POST", "/v1/tasks", { prompt: "a", id: "b", needs: ["c"], priority: 1, budget: { usd: 1 }, permissions: "all" }],
  ["POST", "/v1/tasks/:task/stop", { reason: "a" }],
  ["POST", "/v1/tasks/:task/resume", { prompt: "a", budget: { tokens: 5 } }],
  ["POST", "/v1/tasks/:task/merge", { how: "squash", into: "main", gate: "true", message: "a", dryRun: true }],
  ["POST", "/v1/mcp/vault/login", { cwd: "." }],
  ["POST", "/v1/mcp/vault/logout", { cwd: "." }],
  ["POST", "/v1/tasks/collect", { dryRun: true, cwd: ".", quota: 5 }],
];

it("has a body for every route that accepts JSON", async () => {
  await using scene = await openHttp();
  const { paths } = (await scene.get("/openapi.json")).json as unknown as {
    paths: Record<string, Record<string, { requestBody?: { content: object } }>>;
  };
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) =>
      requestBody !== undefined && "application/json" in requestBody.content ? [`${method.toUpperCase()} ${path}`] : [],
    ),
  );
  const isCovered = (route: string): boolean => {
    const pattern = new RegExp(`^${route.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
    return BODIES.some(([method, path]) => pattern.test(`${method} ${path}`));
  };
  expect(routes.length).toBeGreaterThan(10);
  expect(routes.filter((route) => !isCovered(route))).toEqual([]);
});

it(
  "never responds with 500 to a mutated body, and its sessions still work afterwards",
  async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      await using scene = await openHttp(() => say("fine"));
      const id = (await scene.post("/v1/sessions", { agent: "anthropic" })).json.id;
      const problems: string[] = [];
      for (let seed = FIRST_SEED; seed < FIRST_SEED + CASES; seed += 1) {
        const problem = await sendOne(scene, id, seed).catch((error: unknown) => `seed ${seed}: ${String(error)}`);
        if (problem !== undefined) problems.push(problem);
      }
      expect(problems).toEqual([]);
      await scene.post(`/v1/sessions/${id}/cancel`, {});
      const session = await scene.rookery.sessions();
      expect(session.map((each) => each.id)).toContain(id);
      expect(await scene.post("/v1/sessions", { agent: "anthropic" })).toMatchObject({ status: 201 });
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  },
  isWhole ? 1_200_000 : 60_000,
);

it("rejects deeply nested JSON in every field of every body and keeps working", { timeout: 60_000 }, async () => {
  await using scene = await openHttp(() => say("fine"));
  const id = (await scene.post("/v1/sessions", { agent: "anthropic" })).json.id;
  const deep = BODIES.flatMap(([method, route, body]) => [
    ...mutationsOf(body)
      .filter(({ name }) => name.includes("= deep"))
      .map(({ name, json }) => ({ method, route, name, json })),
    { method, route, name: "whole body", json: `${"[".repeat(50_000)}${"]".repeat(50_000)}` },
  ]);
  const json = `{"input":${"[".repeat(2_500_000)}${"]".repeat(2_500_000)}}`;
  deep.push({ method: "POST", route: "/v1/sessions/:id/turns", name: "5 MB", json });
  const problems: string[] = [];
  for (const [index, { method, route, name, json }] of deep.entries()) {
    const path = route.replace(":id", id).replace(":task", "nobody");
    const init = {
      body: json,
      headers: { "content-type": "application/json", "idempotency-key": `deep-${index}` },
    };
    const { status } = await scene.call(method, path, undefined, init);
    if (status < 400 || status >= 500) problems.push(`${method} ${route} ${name}: ${status}`);
  }
  expect(problems).toEqual([]);
  expect(await scene.post(`/v1/sessions/${id}/turns`, { input: "hi" })).toMatchObject({ status: 202 });
});

async function sendOne(scene: HttpScene, id: string, seed: number): Promise<string | undefined> {
  const random = new Random(seed);
  const [method, route, body] = BODIES[random.below(BODIES.length)]!;
  const path = route.replace(":id", id).replace(":task", "nobody");
  const text = mutateLine(random, JSON.stringify(body));
  const { status } = await scene.call(method, path, undefined, {
    body: text,
    headers: { "content-type": "application/json" },
  });
  return status < 500 ? undefined : `seed ${seed}: ${method} ${path} answered ${status} to ${text.slice(0, 200)}`;
}
