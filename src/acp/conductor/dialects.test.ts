import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { startAcpAgent, type AcpScript } from "../../testing/acp-agent/index.ts";
import {
  openConductor,
  openProxyComponent,
  proxyComponent,
  streamTransport,
  transportPair,
  type Component,
  type ProxyDialect,
} from "../index.ts";
import { running } from "./test-chain.ts";
import { LineClient, settle } from "./test-line-client.ts";
import { rawComponent } from "./test-raw-proxy.ts";

const DIALECTS: readonly ProxyDialect[] = ["official", "rust"];
const PERMISSION = "session/request_permission";
const SCRIPT: AcpScript = { ids: "string", otherwise: [{ say: "one" }, { permission: {} }, { say: "two" }] };
/** Contains fields that nobody here knows. */
const INTRODUCTION = {
  protocolVersion: 65_535,
  clientCapabilities: { fs: { readTextFile: true }, future: { deep: [null, 1.5] } },
  _meta: { "example.com/kept": { method: "proxy/initialize" } },
};

function open(proxies: readonly Component[], script: AcpScript = SCRIPT) {
  const [near, far] = transportPair();
  const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
  const agent = startAcpAgent({ script, input: toAgent, output: fromAgent });
  const last = running("agent", streamTransport(fromAgent, toAgent));
  const conductor = openConductor({ client: { transport: far }, proxies, agent: last });
  const client = new LineClient(near, ({ id, method }, self) => {
    if (method === PERMISSION) self.send({ id, result: { outcome: { outcome: "selected", optionId: "allow_once" } } });
  });
  return {
    client,
    agent,
    conductor,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await conductor.close();
      await agent.close();
    },
  };
}

/** Runs a turn with an update and a permission request through the chain. */
async function converse({ client, agent }: ReturnType<typeof open>): Promise<void> {
  const introduced = await client.request("initialize", INTRODUCTION);
  expect(introduced.result).toMatchObject({ protocolVersion: 1, agentInfo: { name: "scripted-agent" } });
  expect(await agent.receivedMethod("initialize")).toEqual(INTRODUCTION);
  const prompt = client.prompt(await client.newSession());
  expect(await client.answerTo(prompt)).toMatchObject({ result: { stopReason: "end_turn" } });
  expect(client.text).toMatch(/^one\|.*allow_once.*\|two$/);
  expect(agent.received.filter((message) => (message as { method?: string }).method === "initialize")).toHaveLength(1);
}

describe("a chain of third-party proxies", () => {
  it.each([
    ["official", "rust"],
    ["rust", "official"],
    ["rust", "rust"],
    ["official", "official"],
  ] as const)("detects each proxy's dialect by asking: %s, then %s", async (...dialects) => {
    const raw = dialects.map((dialect, place) => rawComponent(`raw ${place}`, dialect));
    const components = raw.map(({ component }) => component);
    await using scene = open([...components, proxyComponent("ours", {})]);
    await converse(scene);
    for (const [place, dialect] of dialects.entries()) {
      const { methods } = raw[place]?.proxy() ?? { methods: [] };
      const [own, other] = dialect === "rust" ? ["_proxy/", "proxy/"] : ["proxy/", "_proxy/"];
      expect(methods.filter((method) => method === `${own}initialize`)).toHaveLength(1);
      // The official dialect is tried first. No proxy gets any other message in a foreign dialect.
      expect(methods.filter((method) => method.startsWith(other))).toEqual(
        dialect === "rust" ? ["proxy/initialize"] : [],
      );
      expect(methods.filter((method) => method === `${own}successor`).length).toBeGreaterThan(2);
    }
  });

  it.each(DIALECTS)("asks once if the dialect is configured: %s", async (dialect) => {
    const raw = rawComponent("raw", dialect);
    await using scene = open([{ ...raw.component, dialect }]);
    await converse(scene);
    expect(raw.proxy().methods[0]).toBe(dialect === "rust" ? "_proxy/initialize" : "proxy/initialize");
    expect(raw.proxy().methods.filter((method) => method.endsWith("/initialize"))).toHaveLength(1);
  });

  it("asks again in the same dialect when the client initializes again", async () => {
    const raw = rawComponent("raw", "rust");
    await using scene = open([raw.component]);
    await scene.client.request("initialize", INTRODUCTION);
    await scene.client.request("initialize", INTRODUCTION);
    expect(raw.proxy().methods).toEqual(["proxy/initialize", "_proxy/initialize", "_proxy/initialize"]);
  });

  it.each(DIALECTS)("drops a cancel in an envelope, because its id belongs to another hop: %s", async (dialect) => {
    const raw = rawComponent("raw", dialect);
    await using scene = open([{ ...raw.component, dialect }]);
    await scene.client.request("initialize", INTRODUCTION);
    const method = dialect === "rust" ? "_proxy/successor" : "proxy/successor";
    raw.proxy().send({ method, params: { method: "$/cancel_request", params: { requestId: 1 } } });
    raw.proxy().send({ method, params: { method: "_ext/told", params: {}, _meta: { hop: "local" } } });
    expect(await scene.agent.receivedMethod("_ext/told")).toEqual({});
    expect(JSON.stringify(scene.agent.received)).not.toMatch(/cancel_request|hop/);
  });

  it("refuses an empty envelope and continues", async () => {
    const raw = rawComponent("raw", "official");
    await using scene = open([raw.component]);
    await scene.client.request("initialize", INTRODUCTION);
    for (const params of [undefined, null, {}, { method: 7 }, []]) {
      expect(await raw.proxy().ask("proxy/successor", params)).toMatchObject({ error: { code: -32602 } });
      raw.proxy().send({ method: "proxy/successor", params });
    }
    expect(await raw.proxy().ask("proxy/successor", { method: "session/list", params: null })).toHaveProperty("result");
    expect(scene.agent.received.at(-1)).not.toHaveProperty("params");
  });
});

it("passes the agent's initialize response to the client unchanged", async () => {
  const result = {
    protocolVersion: 1,
    agentCapabilities: { future: [{ deep: null }] },
    _meta: { big: 1e3 },
    extra: "",
  };
  const raw = DIALECTS.map((dialect) => rawComponent(dialect, dialect).component);
  await using scene = open([...raw, proxyComponent("ours", {})], { on: { initialize: { answer: { result } } } });
  expect((await scene.client.request("initialize", INTRODUCTION)).result).toEqual(result);
});

describe("a conductor refuses", () => {
  it("a component that is not a proxy, by its name", async () => {
    const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
    await using agent = startAcpAgent({ script: {}, input: toAgent, output: fromAgent });
    await using scene = open([running("claude", streamTransport(fromAgent, toAgent))]);
    const { error } = await scene.client.request("initialize", INTRODUCTION);
    expect(error?.message).toMatch(/^claude is not a proxy: proxy\/initialize was refused .*, _proxy\/initialize was/);
    expect(agent.problems).toEqual([]);
  });

  it("a proxy in the agent's position", async () => {
    const [near, far] = transportPair();
    await using _proxy = openProxyComponent({ transport: far });
    const client = new LineClient(near);
    expect(await client.request("initialize", INTRODUCTION)).toMatchObject({ error: { code: -32600 } });
    expect(client.messages).toHaveLength(1);
  });

  it("a chain without an agent in the agent's position", async () => {
    const [near, far] = transportPair();
    await using _conductor = openConductor({ client: { transport: far }, proxies: [proxyComponent("one", {})] });
    const client = new LineClient(near);
    expect(await client.request("initialize", INTRODUCTION)).toMatchObject({ error: { code: -32600 } });
    expect(client.messages).toHaveLength(1);
  });

  it.each(["proxy/initialize", "_proxy/initialize", "proxy/successor", "_proxy/successor"])(
    "%s from a client, from an agent, and from a proxy to its successor",
    async (method) => {
      const raw = rawComponent("raw", "official");
      const script: AcpScript = { prompts: [[{ request: { method, params: { method: "_ext/ask" } } }]] };
      await using scene = open([{ ...raw.component, dialect: "official" }, proxyComponent("ours", {})], script);
      await scene.client.request("initialize", INTRODUCTION);
      const envelope = { method: "_ext/ask", params: {} };
      expect(await scene.client.request(method, envelope)).toMatchObject({ error: { code: -32601 } });
      expect(await raw.proxy().ask("proxy/successor", { method, params: envelope })).toMatchObject({
        error: { code: -32601 },
      });
      scene.client.send({ method, params: envelope });
      raw.proxy().send({ method: "proxy/successor", params: { method, params: envelope } });
      await scene.client.answerTo(scene.client.prompt(await scene.client.newSession()));
      expect(scene.client.text).toContain(`${method} failed`);
      expect(raw.proxy().methods).not.toContain("_ext/ask");
      expect(scene.client.messages.some((message) => message.method === "_ext/ask")).toBe(false);
    },
  );
});

describe("a conductor within a conductor", () => {
  function conductorComponent(name: string, proxies: readonly Component[], dialect?: ProxyDialect): Component {
    return {
      name,
      dialect,
      start() {
        const [near, far] = transportPair();
        const inner = openConductor({ client: { transport: far }, proxies });
        return Promise.resolve({ transport: near, [Symbol.asyncDispose]: () => inner.close() });
      },
    };
  }

  const adds = (text: string): Component =>
    proxyComponent(text, {
      prompt: (request) => ({ ...request, prompt: [...request.prompt, { type: "text", text }] }),
    });

  it.each([undefined, ...DIALECTS])("acts as one proxy in the dialect %s", async (dialect) => {
    await using scene = open([
      adds("one"),
      conductorComponent("inner", [adds("two"), rawComponent("raw", "rust").component, adds("three")], dialect),
      adds("four"),
    ]);
    await converse(scene);
    const { prompt } = await scene.agent.receivedMethod("session/prompt");
    expect((prompt as { text: string }[]).map(({ text }) => text)).toEqual(["Go", "one", "two", "three", "four"]);
  });

  it("nests to any depth, even if it is empty", async () => {
    const deep = (depth: number): Component =>
      depth === 0
        ? conductorComponent("empty", [])
        : conductorComponent(`depth ${depth}`, [adds("in"), deep(depth - 1)]);
    await using scene = open([deep(3)]);
    await converse(scene);
    const { prompt } = await scene.agent.receivedMethod("session/prompt");
    expect(prompt).toHaveLength(4);
  });

  it("passes a cancel through and names the component that exits within it", async () => {
    const raw = rawComponent("inside", "official");
    await using scene = open([conductorComponent("inner", [adds("two"), raw.component])], {
      prompts: [{ steps: [{ waitForCancel: true }], onCancel: { answer: { result: { stopReason: "cancelled" } } } }],
    });
    await scene.client.request("initialize", INTRODUCTION);
    const sessionId = await scene.client.newSession();
    const prompt = scene.client.prompt(sessionId);
    await scene.agent.receivedMethod("session/prompt");
    scene.client.send({ method: "session/cancel", params: { sessionId } });
    expect(await scene.client.answerTo(prompt)).toMatchObject({ result: { stopReason: "cancelled" } });
    raw.proxy().leave();
    await settle();
    const { error } = await scene.client.request("session/list", {});
    expect(error?.message).toBe("inside closed the connection");
  });

  it("can be the agent of another conductor", async () => {
    const [toAgent, fromAgent] = [new PassThrough(), new PassThrough()];
    await using _agent = startAcpAgent({ script: SCRIPT, input: toAgent, output: fromAgent });
    const [near, far] = transportPair();
    await using _inner = openConductor({
      client: { transport: far },
      proxies: [adds("two")],
      agent: running("agent", streamTransport(fromAgent, toAgent)),
    });
    const [top, bottom] = transportPair();
    await using _outer = openConductor({
      client: { transport: bottom },
      proxies: [adds("one")],
      agent: running("inner", near),
    });
    const client = new LineClient(top);
    await client.request("initialize", { ...INTRODUCTION, protocolVersion: 1 });
    client.prompt(await client.newSession());
    await client.called(PERMISSION);
    expect(await _agent.receivedMethod("session/prompt")).toMatchObject({
      prompt: [{ text: "Go" }, { text: "one" }, { text: "two" }],
    });
  });
});
