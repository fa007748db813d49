import { client as sdkClient, ndJsonStream, type ClientConnection } from "@agentclientprotocol/sdk";
import { PassThrough, Readable, Writable } from "node:stream";
import { setImmediate as tick } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { fuzz, type Random } from "../../programs/test-fuzz.ts";
import type { ClientRequestHandler, NotificationHandler, Proxy, ProxyOptions } from "../index.ts";
import { openProxy, streamTransport } from "../index.ts";
import { pause } from "./test-ends.ts";
import { FuzzAgent, type SessionMessage } from "./test-fuzz-agent.ts";
import { RawPeer } from "./test-traffic.ts";

/** Cases in `npm test`. */
const CASES = 60;
/** `ROOKERY_FUZZ=all` runs this many times 2,000 cases. */
const LONG_RUNS = process.env["ROOKERY_FUZZ"] === "all" ? 10 : 1;

/** What the handler of updates does with one: decided by its text, so that the test knows it too. */
function decide(text: string): "pass" | "change" | "drop" | "throw" {
  const number = Number(text.slice(1));
  if (number % 7 === 3) return "drop";
  if (number % 7 === 5) return "change";
  return number % 23 === 1 ? "throw" : "pass";
}

function handleUpdates(random: Random): NotificationHandler {
  return (notification) => {
    const params = notification.params as { update: { content: { text: string } } };
    const { text } = params.update.content;
    const verdict = () => {
      const what = decide(text);
      if (what === "throw") throw new Error("on purpose");
      if (what === "drop") return "drop" as const;
      if (what === "pass") return undefined;
      const update = { ...params.update, content: { type: "text", text: `${text}!` } };
      return { params: { ...params, update } };
    };
    return random.chance(0.4) ? verdict() : pause(random).then(verdict);
  };
}

/** Sets a session up in a random way, some of them with a session of the proxy's own before or after it. */
function anySetup(random: Random, proxy: () => Proxy, own: Promise<unknown>[]): ClientRequestHandler {
  let owned = 0;
  const startOwn = async (): Promise<void> => {
    const permission = () => ({ outcome: { outcome: "cancelled" as const } });
    const builder = proxy()
      .session(`/own${(owned += 1)}`)
      .serve({ permission });
    const session = await builder.create();
    await session.prompt("own").finish();
    await session[Symbol.asyncDispose]();
  };
  const startsOwn = random.chance(0.4);
  return async (request) => {
    const params = { ...(request.params as object), _meta: { changed: true } };
    if (startsOwn && random.chance(0.5)) own.push(startOwn());
    if (startsOwn && random.chance(0.2)) await startOwn();
    await pause(random);
    return random.pick<() => unknown>(
      () => request.forward(),
      () => request.forward(params),
      async () => {
        const response = await request.forward();
        await pause(random);
        return response;
      },
      () => request.startProxy({ params }),
      async () => {
        const { session, proxyRemaining } = await request.startSession({ params });
        if (random.chance(0.5)) session.prompt("warm").response.catch(() => undefined);
        await pause(random);
        proxyRemaining();
      },
      async () => {
        const response = await request.forward();
        const held = proxy().attach({ response: response.result as { sessionId: string } });
        await pause(random);
        request.respond(response);
        held.proxyRemaining();
      },
    )();
  };
}

interface Scene {
  readonly proxy: Proxy;
  readonly agent: FuzzAgent;
  readonly connection: ClientConnection;
  /** What reached the client about each session, in wire order. */
  readonly seen: Map<string, SessionMessage[]>;
  readonly own: readonly Promise<unknown>[];
  readonly errors: readonly unknown[];
}

function openScene(random: Random): Scene {
  const [toClient, toAgent, fromClient] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const seen = recordSessions(toClient);
  const peer = new RawPeer("agent", toAgent, random);
  const [own, errors]: [Promise<unknown>[], unknown[]] = [[], []];
  const slowly: NotificationHandler = () => pause(random).then(() => undefined);
  const options: ProxyOptions = {
    agentNotifications: { "session/update": handleUpdates(random) },
    clientNotifications: { "session/cancel": slowly },
    fromClient: {
      "session/new": anySetup(random, () => proxy, own),
      ...(random.chance(0.5) && { "session/prompt": (request) => pause(random).then(() => request.forward()) }),
    },
    fromAgent: {
      ...(random.chance(0.5) && {
        "session/request_permission": (request) => pause(random).then(() => request.forward()),
      }),
    },
    onError: (error) => errors.push(error),
  };
  const proxy: Proxy = openProxy(
    { transport: streamTransport(fromClient, toClient) },
    { transport: streamTransport(peer.output, toAgent) },
    options,
  );
  const connection = sdkClient({ name: "fuzz" })
    .onRequest("session/request_permission", async () => {
      await pause(random);
      return { outcome: { outcome: "cancelled" } };
    })
    .onNotification("session/update", () => undefined)
    .connect(
      ndJsonStream(
        Writable.toWeb(fromClient) as WritableStream<Uint8Array>,
        Readable.toWeb(toClient) as ReadableStream<Uint8Array>,
      ),
    );
  return { proxy, agent: new FuzzAgent(peer, random), connection, seen, own, errors };
}

/** Records each message about a session as it is written to the client. */
function recordSessions(output: PassThrough): Map<string, SessionMessage[]> {
  const seen = new Map<string, SessionMessage[]>();
  const write = output.write.bind(output) as (chunk: unknown, ...rest: unknown[]) => boolean;
  let rest = "";
  output.write = ((chunk: unknown, ...others: unknown[]) => {
    const lines = (rest + String(chunk)).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const found = readMessage(line);
      if (found !== undefined) seen.set(found.sessionId, [...(seen.get(found.sessionId) ?? []), found.message]);
    }
    return write(chunk, ...others);
  }) as typeof output.write;
  return seen;
}

function readMessage(line: string): { readonly sessionId: string; readonly message: SessionMessage } | undefined {
  const { method, params, result } = JSON.parse(line) as {
    method?: string;
    params?: { sessionId: string; update?: { content: { text: string } }; toolCall?: { title: string } };
    result?: { sessionId?: string; _meta?: { about: string; text: string } };
  };
  if (method === "session/update" && params?.update !== undefined)
    return { sessionId: params.sessionId, message: { kind: "update", text: params.update.content.text } };
  if (params?.toolCall !== undefined)
    return { sessionId: params.sessionId, message: { kind: "request", text: params.toolCall.title } };
  if (result?._meta === undefined) return undefined;
  const { about, text } = result._meta;
  return { sessionId: about, message: { kind: text === "setup" ? "setup" : "prompt", text } };
}

/** What the client has to see of the session, in this order. */
function expectedOf(sent: readonly SessionMessage[]): SessionMessage[] {
  return sent.flatMap((message) => {
    if (message.kind === "prompt") return message.text === "prompt warm" ? [] : [message];
    if (message.kind !== "update") return [message];
    const what = decide(message.text);
    if (what === "pass") return [message];
    return what === "change" ? [{ ...message, text: `${message.text}!` }] : [];
  });
}

async function converse(random: Random, scene: Scene): Promise<void> {
  const { connection, agent, own } = scene;
  const talk = async (name: string): Promise<void> => {
    await connection.agent.request("session/new", { cwd: `/${name}`, mcpServers: [] });
    for (let prompts = random.below(3); prompts > 0; prompts -= 1) {
      const prompting = connection.agent.request("session/prompt", {
        sessionId: name,
        prompt: [{ type: "text", text: String(prompts) }],
      });
      if (random.chance(0.3)) await connection.agent.notify("session/cancel", { sessionId: name });
      await prompting;
    }
  };
  const work = (async () => {
    await connection.agent.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const names = Array.from({ length: 2 + random.below(4) }, (_, at) => `s${at}`);
    await Promise.all(names.map(async (name) => (await pause(random), talk(name))));
    await Promise.all(own);
  })();
  let isDone = false;
  const done = work.finally(() => {
    isDone = true;
  });
  const count = (messages: Iterable<readonly SessionMessage[]>): number =>
    [...messages].reduce((sum, { length }) => sum + length, 0);
  const isComplete = (): boolean => {
    const theirs = [...agent.sent].filter(([name]) => name.startsWith("s"));
    return count(theirs.map(([, sent]) => expectedOf(sent))) <= count(scene.seen.values());
  };
  for (let turns = 0; !(isDone && agent.isIdle && isComplete()); turns += 1) {
    if (turns > 20_000) throw new Error(isDone ? "something was lost" : "something hangs");
    agent.step();
    await tick();
  }
  await done;
}

function verify({ agent, seen, errors }: Scene): void {
  expect([...seen.keys()].filter((name) => !name.startsWith("s"))).toEqual([]); // of the proxy's own sessions
  for (const [name, sent] of agent.sent) {
    if (!name.startsWith("s")) continue;
    const [all, expected] = [seen.get(name) ?? [], expectedOf(sent)];
    const isSetup = ({ kind }: SessionMessage): boolean => kind === "setup";
    const rest = (messages: readonly SessionMessage[]) => messages.filter((message) => !isSetup(message));
    expect(rest(all)).toEqual(rest(expected));
    expect(all.filter(isSetup)).toHaveLength(1);
    expect(all.findIndex(isSetup)).toBeLessThanOrEqual(expected.findIndex(isSetup));
  }
  for (const error of errors) expect(error).toMatchObject({ code: "plugin_failed" });
}

describe("a client of the official SDK behind a proxy with random handlers", () => {
  it.each(Array.from({ length: LONG_RUNS }, (_, at) => at + 1))(
    "gets every session complete and in order, and nothing of the proxy's own sessions (%i)",
    async () => {
      await fuzz(CASES, async (random) => {
        const scene = openScene(random);
        await converse(random, scene);
        verify(scene);
        scene.connection.close();
        await scene.proxy.close();
      });
    },
    1_200_000,
  );
});
