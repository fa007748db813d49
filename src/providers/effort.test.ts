import { expect, it } from "vitest";
import type { Effort } from "../domain/provider.ts";
import { call, say, startModelServer } from "../testing/index.ts";
import { toFollowUpMessages, openTestModel, requestReply, user, WIRES, type WireName } from "./test-models.ts";

async function bodyWith(wire: WireName, name: string, effort: Effort | undefined): Promise<unknown> {
  await using server = await startModelServer([say("Ok.")]);
  await requestReply(openTestModel(wire, server.url, { name, effort }));
  return server.requests[0]?.body;
}

it.each<[WireName, string, Effort, object]>([
  [
    "anthropic",
    "anthropic/claude-sonnet-5",
    "high",
    { thinking: { type: "adaptive" }, output_config: { effort: "high" } },
  ],
  [
    "anthropic",
    "anthropic/claude-opus-5-5",
    "max",
    { thinking: { type: "adaptive" }, output_config: { effort: "max" } },
  ],
  ["anthropic", "anthropic/claude-sonnet-5", "off", { thinking: { type: "disabled" } }],
  ["anthropic", "anthropic/claude-sonnet-4-5", "low", { thinking: { type: "enabled", budget_tokens: 4096 } }],
  [
    "anthropic",
    "anthropic/claude-haiku-4-5-20251001",
    "high",
    { thinking: { type: "enabled", budget_tokens: 24_576 } },
  ],
  ["openai", "openai/gpt-6.1-sol", "max", { reasoning: { effort: "max", summary: "auto" } }],
  ["openai", "openai/gpt-5.4", "max", { reasoning: { effort: "xhigh" } }],
  ["openai", "openai/gpt-5", "max", { reasoning: { effort: "high" } }],
  ["openai", "openai/gpt-5.4", "off", { reasoning: { effort: "none" } }],
  ["openai", "openai/a-model-of-a-gateway", "low", { reasoning: { effort: "low" } }],
  ["google", "google/gemini-2.5-flash", "off", { generationConfig: { thinkingConfig: { thinkingBudget: 0 } } }],
  ["google", "google/gemini-2.5-pro", "max", { generationConfig: { thinkingConfig: { thinkingBudget: 32_768 } } }],
  [
    "google",
    "google/gemini-4-argon",
    "max",
    { generationConfig: { thinkingConfig: { thinkingLevel: "high", includeThoughts: true } } },
  ],
  ["openai-compatible", "vllm/qwen3", "medium", { reasoning_effort: "medium" }],
  ["openai-compatible", "vllm/qwen3", "off", { reasoning_effort: "none" }],
])("over %s, requests from %s the effort %s", async (wire, name, effort, said) => {
  expect(await bodyWith(wire, name, effort)).toMatchObject(said);
});

it.each(WIRES)("over %s, sends no effort option by default", async (wire) => {
  const body = JSON.stringify(await bodyWith(wire, openTestModel(wire, "http://127.0.0.1").name, undefined));
  expect(body).not.toMatch(/effort|thinking_?(config|budget)|"thinking"/i);
});

it.each<[WireName, string, Effort]>([
  ["anthropic", "anthropic/claude-3-haiku-20240307", "high"],
  ["anthropic", "anthropic/claude-opus-5-5", "off"],
  ["openai", "openai/gpt-4.1", "low"],
  ["openai", "openai/o3", "off"],
  ["openai", "openai/gpt-6.1-sol", "off"],
  ["google", "google/gemini-2.0-flash", "high"],
  ["google", "google/gemini-2.5-pro", "off"],
  ["google", "google/gemini-3.8-flash", "off"],
])("over %s, rejects %s with the effort %s as model_invalid", (wire, name, effort) => {
  expect(() => openTestModel(wire, "http://127.0.0.1", { name, effort })).toThrow(
    expect.objectContaining({
      code: "model_invalid",
      message: expect.stringMatching(/cannot disable thinking|does not support effort/) as string,
    }) as Error,
  );
});

/** How each API returns thoughts with their signature. */
const SIGNED: Record<WireName, RegExp> = {
  anthropic: /"type":"thinking","thinking":"hmm","signature":"[^"]+"/,
  openai: /"type":"reasoning","id":"rs_\d+"(,"summary":\[[^\]]*\])?,"encrypted_content":"[^"]+"/,
  google: /"thoughtSignature":"[^"]+"/,
  "openai-compatible": /"reasoning_content":"hmm"/,
};

it.each(WIRES)("over %s, returns thoughts with their signature, but only to the same model", async (wire) => {
  await using server = await startModelServer([
    call("bash", { command: "ls" }, { thinking: ["hm", "m"], text: "So" }),
    say("Ok."),
    say("Ok."),
  ]);
  const model = openTestModel(wire, server.url);
  const reply = await requestReply(model);
  const messages = [user("Go"), ...toFollowUpMessages(JSON.parse(JSON.stringify(reply)) as typeof reply)];
  await requestReply(model, messages);
  const other = {
    anthropic: "claude-opus-4-5",
    openai: "gpt-5.2",
    google: "gemini-2.5-flash",
    "openai-compatible": "o",
  };
  await requestReply(
    openTestModel(wire, server.url, { name: `${model.name.split("/")[0] ?? ""}/${other[wire]}` }),
    messages,
  );
  const [, same, another] = server.requests.map(({ body }) => JSON.stringify(body));
  expect(same).toMatch(SIGNED[wire]);
  expect(another).not.toMatch(SIGNED[wire]);
  expect(server.problems).toEqual([]);
});
