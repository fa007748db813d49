import { expect, it } from "vitest";
import { createClient } from "../../client/index.ts";
import { CLAUDE_ID, openNativeScene, type NativeScene } from "../../rookery/test-native-scene.ts";
import { DisposeStack } from "../../stdx/index.ts";
import { serveHttp } from "./index.ts";

const ADOPT = { backend: "claude-code", nativeId: CLAUDE_ID } as const;

async function serve(scene: NativeScene, owned: DisposeStack) {
  const { rookery, env, cwd } = scene;
  const server = owned.use(await serveHttp(rookery, { port: 0, version: "1.2.3", env, cwd, log: () => undefined }));
  return createClient({ url: server.url, token: server.token });
}

it("lists and adopts a session of a program, once for a repeated request, and continues it", async () => {
  await using owned = new DisposeStack();
  const scene = owned.use(await openNativeScene());
  await scene.keepClaudeSession();
  const client = await serve(scene, owned);
  const listed = await client.GET("/v1/native-sessions", { params: { query: {} } });
  expect(listed.data?.sessions).toMatchObject([{ ...ADOPT, cwd: scene.cwd, title: "Please say hello." }]);
  const open = () =>
    client.POST("/v1/sessions", { body: { adopt: ADOPT }, headers: { "idempotency-key": "adopt-once" } });
  const opened = await open();
  expect(opened.response.status).toBe(201);
  expect(opened.data).toMatchObject({ agent: "claude", turns: 3, nativeId: CLAUDE_ID });
  const id = opened.data!.id;
  expect((await open()).data?.id).toBe(id);
  await client.POST("/v1/sessions/{id}/turns", { params: { path: { id } }, body: { input: "Again" } });
  for await (const { event } of client.follow({ session: id, after: opened.data!.head }))
    if (event.type === "turn.ended") break;
  expect((await scene.heard())[0]?.args).toContain(`--resume=${CLAUDE_ID}`);
  const again = await client.POST("/v1/sessions", { body: { adopt: ADOPT } });
  expect(again.response.status).toBe(409);
  expect(again.error).toMatchObject({ code: "native_session_in_use" });
});

it.each([
  [{ backend: "api", nativeId: "a" }, 400, "input_invalid"],
  [{ backend: "claude-code", nativeId: "../a" }, 400, "input_invalid"],
  [{ backend: "claude-code", nativeId: "a", path: "/etc" }, 400, "input_invalid"],
  [{ backend: "claude-code", nativeId: "a" }, 404, "native_session_not_found"],
])("answers a request to adopt %j with %i %s, and writes nothing", async (adopt, status, code) => {
  await using owned = new DisposeStack();
  const scene = owned.use(await openNativeScene());
  const client = await serve(scene, owned);
  const refused = await client.POST("/v1/sessions", { body: { adopt } as never });
  expect(refused.response.status).toBe(status);
  expect(refused.error).toMatchObject({ code });
  expect(await scene.store.list()).toEqual([]);
});

it("continues an unfinished turn without a prompt, and refuses to continue one that is done", async () => {
  await using owned = new DisposeStack();
  const scene = owned.use(await openNativeScene());
  const says = { type: "assistant", message: { content: [{ type: "text", text: "On." }] }, parent_tool_use_id: null };
  const result = { type: "result", subtype: "success", is_error: false };
  await scene.script([
    { needs: "CLAUDE_CODE_RESUME_INTERRUPTED_TURN" },
    { wait: "initialize" },
    { send: says },
    { send: result },
  ]);
  await scene.keepClaudeSession((text) => {
    const lines = text.split("\n");
    return lines.slice(0, lines.findLastIndex((line) => line.includes('"tool_result"')) + 1).join("\n");
  });
  const client = await serve(scene, owned);
  const { data } = await client.POST("/v1/sessions", { body: { adopt: ADOPT } });
  const params = { path: { id: data!.id } };
  const resumed = await client.POST("/v1/sessions/{id}/resume", { params, body: {} });
  expect(resumed.response.status).toBe(202);
  const outcomes: string[] = [];
  for await (const { event } of client.follow({ session: data!.id, after: resumed.data!.seq! })) {
    if (event.type !== "turn.ended") continue;
    outcomes.push(event.outcome.status);
    break;
  }
  expect(outcomes).toEqual(["done"]);
  const again = await client.POST("/v1/sessions/{id}/resume", { params, body: {} });
  expect(again.error).toMatchObject({ code: "input_invalid" });
});
