import { describe, expect, it } from "vitest";
import { Random } from "../../programs/test-fuzz.ts";
import type { ClientRequestHandler, SessionOptions } from "../index.ts";
import { throughChain, throughProxy, type Ends } from "./test-ends.ts";
import { until } from "./test-traffic.ts";

const hold =
  (options?: SessionOptions): ClientRequestHandler =>
  async (request) =>
    (await request.startSession(options)).proxyRemaining();

/** Session A is forwarded, session B is held by the proxy; both are being set up. */
async function setUpTwo(
  open: typeof throughProxy,
  handler: ClientRequestHandler,
  method = "session/new",
): Promise<Ends> {
  const isA = (params: unknown): boolean => (params as { name?: unknown }).name === "a";
  const ends = open(new Random(1), {
    fromClient: { [method]: (request) => (isA(request.params) ? request.forward() : handler(request)) },
  });
  const { client, agent } = ends;
  for (const name of ["a", "b"]) {
    const sessionId = method === "session/load" && { sessionId: name };
    client.request(method, { cwd: "/w", mcpServers: [], name, ...sessionId });
  }
  await client.flush();
  await until("both setups", () => agent.owed.length === 2);
  return ends;
}

const answer = ({ agent }: Ends, method: string, id: string): void =>
  agent.answerTo(method, { sessionId: id }, (params) => (params as { name?: unknown }).name === id);

const update = ({ agent }: Ends, sessionId: string, n: number): void =>
  agent.notify("session/update", { sessionId, update: { sessionUpdate: "x", n } });

function seen({ client }: Ends): string[] {
  return client.seen.map(({ kind, method, value }) => {
    const { sessionId, update } = value as { sessionId?: string; update?: { n: number } };
    return `${sessionId} ${method === "session/update" ? update?.n : kind}`;
  });
}

describe.each([
  ["a proxy", throughProxy],
  ["a chain of proxies", throughChain],
])("while %s sets up its own session", (_, open) => {
  it("delivers updates of a forwarded session in order", async () => {
    const ends = await setUpTwo(open, hold());
    update(ends, "a", 0);
    answer(ends, "session/new", "a");
    update(ends, "a", 1);
    answer(ends, "session/new", "b");
    update(ends, "a", 2);
    await ends.agent.flush();
    await until("everything", () => ends.client.seen.length === 5);
    expect(seen(ends).filter((text) => text.startsWith("a"))).toEqual(["a 0", "a response", "a 1", "a 2"]);
    await ends.close();
  });

  it.each(["session/new", "session/load"])("passes a request through before the answer to %s", async (method) => {
    const ends = await setUpTwo(open, hold(), method);
    update(ends, "b", 0);
    ends.agent.request("fs/read_text_file", { sessionId: "b", path: "/w/a" });
    await ends.agent.flush();
    await until("the request", () => ends.client.owed.length === 1);
    expect(seen(ends)).toEqual(["b 0", "b request"]);
    ends.client.answer(() => ({ content: "x" }));
    await ends.client.flush();
    await until("the answer", () => ends.agent.unanswered === 0);
    answer(ends, method, "b");
    answer(ends, method, "a");
    await ends.agent.flush();
    await until("both responses", () => ends.client.unanswered === 0);
    await ends.close();
  });

  it("does not call its handlers for a request of another session", async () => {
    const mine: unknown[] = [];
    const refuse = (): never => {
      mine.push("asked");
      throw new Error("not mine");
    };
    const ends = await setUpTwo(open, hold({ readTextFile: refuse, request: refuse, notification: refuse }));
    ends.agent.request("fs/read_text_file", { sessionId: "a", path: "/w/a" });
    ends.agent.request("_ext/ask", { sessionId: "a" });
    ends.agent.notify("_ext/told", { sessionId: "a" });
    answer(ends, "session/new", "a");
    answer(ends, "session/new", "b");
    await ends.agent.flush();
    await until("everything", () => ends.client.seen.length === 5);
    expect(mine).toEqual([]);
    expect(seen(ends).slice(0, 4)).toEqual(["a request", "a request", "a notification", "a response"]);
    await ends.close();
  });
});
