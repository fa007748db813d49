import { expect, it } from "vitest";
import { openWorld } from "../session/test-scene.ts";
import { say } from "../testing/index.ts";

async function openCached(model: string) {
  const world = await openWorld([say("One."), say("Two."), say("Three.")]);
  await world.configure(
    `[agents.cached]\nmodel = "${model}"\ncache_key = "of-the-team"\n[agents.plain]\nmodel = "${model}"\n`,
  );
  const rookery = world.owned.use(await world.open());
  const promptWith = async (options: { agent: string; cacheKey?: string }) => {
    const session = await rookery.openSession({ ...options, baseUrl: world.model.url, apiKey: "fake-key" });
    expect(await session.prompt("Go").outcome).toMatchObject({ status: "done" });
    return { id: session.id, request: world.model.requests.at(-1) };
  };
  return { world, rookery, promptWith };
}

it("sends OpenAI the session id as the cache key, or the configured key, or that of the caller", async () => {
  const { world, promptWith } = await openCached("openai/gpt-5.4");
  await using _ = world;
  const plain = await promptWith({ agent: "plain" });
  expect(plain.request?.body).toMatchObject({ prompt_cache_key: plain.id });
  expect((await promptWith({ agent: "cached" })).request?.body).toMatchObject({ prompt_cache_key: "of-the-team" });
  const own = await promptWith({ agent: "cached", cacheKey: "mine" });
  expect(own.request?.body).toMatchObject({ prompt_cache_key: "mine" });
});

it.each([
  ["xai/grok-4.6", "of-the-team"],
  ["vllm/qwen3-coder", undefined],
])("sends %s the header of xAI: %s, and no unknown field", async (model, header) => {
  const { world, promptWith } = await openCached(model);
  await using _ = world;
  const { request } = await promptWith({ agent: "cached" });
  expect(request?.headers["x-grok-conv-id"]).toBe(header);
  expect(request?.body).not.toHaveProperty("prompt_cache_key");
});

it.each(["", "a b", "x".repeat(65), 7])("rejects %j as a cache key with input_invalid", async (cacheKey) => {
  const { world, rookery } = await openCached("openai/gpt-5.4");
  await using _ = world;
  await expect(rookery.openSession({ cacheKey: cacheKey as string })).rejects.toMatchObject({ code: "input_invalid" });
});
