import { createAnthropic } from "@ai-sdk/anthropic";
import { generateText, streamText } from "ai";
import { expect, it } from "vitest";
import { say, startModelServer } from "../index.ts";

it("streams", async () => {
  await using server = await startModelServer([say(["Hel", "lo"], { thinking: "hm" }), say("again")]);
  const model = createAnthropic({ baseURL: `${server.url}/v1`, apiKey: "x" })("claude-test");
  const result = streamText({ model, prompt: "hi", maxRetries: 0 });
  expect(await result.text).toBe("Hello");
  const whole = await generateText({ model, prompt: "hi", maxRetries: 0 });
  expect(whole.text).toBe("again");
});
