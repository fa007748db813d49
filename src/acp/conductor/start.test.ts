import { describe, expect, it } from "vitest";
import { deferred } from "../../stdx/index.ts";
import { openConductor, proxyComponent, transportPair, type Component, type RunningComponent } from "../index.ts";
import { LineClient, settle } from "./test-line-client.ts";
import { scriptedComponent } from "./test-scene.ts";

/** Records each start. */
function noted(component: Component, started: string[]): Component {
  return {
    ...component,
    start(options) {
      started.push(component.name);
      return component.start(options);
    },
  };
}

function open(proxies: readonly Component[], agent: Component) {
  const [near, far] = transportPair();
  const conductor = openConductor({ client: { transport: far }, proxies, agent });
  const client = new LineClient(near);
  return {
    client,
    conductor,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await conductor.close();
    },
  };
}

const introduction = { protocolVersion: 1, clientCapabilities: {} };

it("starts each component when its first message arrives, not before", async () => {
  const started: string[] = [];
  const answersItself = proxyComponent("first", { fromClient: { "_first/ask": () => "itself" } });
  await using scene = open(
    [noted(answersItself, started), noted(proxyComponent("second", {}), started)],
    noted(scriptedComponent({}, "agent"), started),
  );
  await settle();
  expect(started).toEqual([]);
  expect(await scene.client.request("_first/ask")).toMatchObject({ result: "itself" });
  expect(started).toEqual(["first"]);
  await scene.client.request("initialize", introduction);
  await scene.client.newSession();
  expect(started).toEqual(["first", "second", "agent"]);
});

describe("a component that starts slowly", () => {
  function slow(component: Component, signalled: () => void = () => undefined) {
    const ready = deferred();
    const disposed = deferred();
    const slowed: Component = {
      ...component,
      async start(options) {
        options.signal.addEventListener("abort", signalled);
        await ready.promise;
        const running = await component.start(options);
        return {
          ...running,
          [Symbol.asyncDispose]: async () => (await running[Symbol.asyncDispose](), disposed.resolve()),
        };
      },
    };
    return { component: slowed, ready, disposed };
  }

  it.each(["proxy", "agent"])("gets everything in order once it runs, as the %s", async (place) => {
    const proxy = slow(proxyComponent("proxy", {}));
    const agent = slow(scriptedComponent({ otherwise: [{ say: "hi" }] }, "agent"));
    (place === "proxy" ? agent : proxy).ready.resolve();
    await using scene = open([proxy.component], agent.component);
    const asked = [
      scene.client.ask("initialize", introduction),
      scene.client.ask("session/new", { cwd: "/project", mcpServers: [] }),
      scene.client.prompt("session-1"),
    ];
    await settle();
    (place === "proxy" ? proxy : agent).ready.resolve();
    for (const id of asked) expect(await scene.client.answerTo(id)).not.toHaveProperty("error");
    expect(scene.client.text).toBe("hi");
  });

  it.each(["proxy", "agent"])("does not block callers that cancel, as the %s", async (place) => {
    const proxy = slow(proxyComponent("proxy", {}));
    const agent = slow(scriptedComponent({}, "agent"));
    if (place === "agent") proxy.ready.resolve();
    await using scene = open([proxy.component], agent.component);
    const asked = [scene.client.ask("session/new", {}), scene.client.ask("session/list", {})];
    await settle();
    for (const id of asked) scene.client.send({ method: "$/cancel_request", params: { requestId: id } });
    for (const id of asked) expect(await scene.client.answerTo(id)).toMatchObject({ error: { code: -32800 } });
    proxy.ready.resolve();
    agent.ready.resolve();
    expect(await scene.client.request("initialize", introduction)).not.toHaveProperty("error");
  });

  it("gets an abort signal when the chain closes first, and is disposed if it still starts", async () => {
    const signalled = deferred();
    const agent = slow(scriptedComponent({}, "agent"), () => signalled.resolve());
    const scene = open([], agent.component);
    scene.client.ask("initialize", introduction);
    await settle();
    const closed = scene.conductor.close();
    await signalled.promise;
    agent.ready.resolve();
    await agent.disposed.promise;
    await closed;
  });

  it("does not block closing the chain if it never starts", async () => {
    const scene = open([], { name: "agent", start: () => new Promise<RunningComponent>(() => undefined) });
    const asked = scene.client.ask("initialize", introduction);
    await settle();
    await scene.conductor.close();
    await settle();
    expect(scene.client.answersTo(asked)).toHaveLength(1);
  });
});

it("rejects close with the components that could not be stopped, after stopping all others", async () => {
  const ended: string[] = [];
  const ends = (component: Component, end: () => void): Component => ({
    ...component,
    async start(options) {
      const running = await component.start(options);
      return { ...running, [Symbol.asyncDispose]: async () => (await running[Symbol.asyncDispose](), end()) };
    },
  });
  const fails = (): never => {
    throw new Error("it does not go");
  };
  const proxy = (name: string): Component => ends(proxyComponent(name, {}), () => ended.push(name));
  const scene = open(
    [proxy("first"), ends(proxyComponent("second", {}), fails), proxy("third")],
    scriptedComponent({}, "agent"),
  );
  await scene.client.request("initialize", introduction);
  await expect(scene.conductor.close()).rejects.toMatchObject({ errors: [{ message: "it does not go" }] });
  expect(ended.toSorted()).toEqual(["first", "third"]);
  await scene.conductor.closed;
  await settle();
  expect(scene.client.ended).toBe(true);
});
