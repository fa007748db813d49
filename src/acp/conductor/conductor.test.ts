import { expect, it } from "vitest";
import { proxyComponent, type Component } from "../index.ts";
import { openChain, scriptedComponent } from "./test-scene.ts";

const adds = (text: string): Component =>
  proxyComponent(text, {
    prompt: (request) => ({ ...request, prompt: [...request.prompt, { type: "text", text }] }),
  });

it("passes a prompt through every proxy of the chain, in order", async () => {
  const prompts: string[] = [];
  const last = proxyComponent("looks", {
    prompt: (request) => {
      prompts.push(request.prompt.map((block) => (block.type === "text" ? block.text : "")).join(" "));
      return request;
    },
  });
  await using scene = await openChain(
    [adds("one"), adds("two"), last],
    scriptedComponent({ otherwise: [{ say: "done" }] }),
  );
  const session = await scene.client.session("/project").create();
  expect(await session.prompt("zero").readText()).toBe("done");
  expect(prompts).toEqual(["zero one two"]);
});

it("passes the agent's requests through every proxy to the client", async () => {
  await using scene = await openChain(
    [adds("one"), adds("two")],
    scriptedComponent({ prompts: [[{ permission: {} }]] }),
    { serve: { permission: () => ({ outcome: { outcome: "selected", optionId: "allow_once" } }) } },
  );
  const session = await scene.client.session("/project").create();
  expect(await session.prompt("x").readText()).toContain("allow_once");
});
