/** Scenarios about how values change between the wire and the program. */

import { isDeepStrictEqual } from "node:util";
import { agentPeer, clientPeer, eventually, says, update } from "./test-peer.ts";
import { verdict, type Scenario } from "./test-scenario.ts";

export const unknownUpdatesArrive: Scenario = {
  id: 2,
  name: "an update of an unknown kind reaches its session or, without a session, the catch-all handler",
  async run(subject) {
    // From the SDK's own unstable schema, as a newer agent would send it to an older client.
    const unknown = update({ sessionUpdate: "plan_update", plan: { type: "items", id: "p", entries: [] } });
    const agent = agentPeer({ "session/new": () => ({ result: { sessionId: "s1" } }) });
    const handled: unknown[] = [];
    const client = await subject.connectClient(agent.wire, {
      onNotification: (_method, params) => void handled.push(params),
    });
    agent.write(unknown, says("known"));
    await eventually(() => handled.length > 0, "an update");
    const session = await client.newSession({ cwd: "/" });
    agent.write(unknown, says("known"));
    const first = await session.next();
    await client.close();
    return verdict(
      isDeepStrictEqual(first, unknown.params) ? undefined : "the session never saw it",
      isDeepStrictEqual(handled[0], unknown.params) ? undefined : "the handler never ran",
    );
  },
  sdk: "wrong: the session never saw it; the handler never ran",
};

export const unknownFieldsArrive: Scenario = {
  id: 3,
  name: "a typed handler sees unknown fields, and an unknown MCP server type is accepted",
  async run(subject) {
    const seen: unknown[] = [];
    const client = await clientPeer((wire) =>
      subject.serveAgent(wire, {
        async "session/new"(params) {
          seen.push(params);
          return { sessionId: "s1" };
        },
      }),
    );
    const stdio = { name: "files", command: "/bin/true", args: [], env: [], restart: "always" };
    const withFields = { cwd: "/", mcpServers: [stdio], sandbox: { network: false } };
    const withType = { cwd: "/", mcpServers: [{ type: "_vsock", name: "vm", port: 7 }] };
    client.write({ id: 1, method: "session/new", params: withFields });
    client.write({ id: 2, method: "session/new", params: withType });
    await client.response(1);
    const { error } = await client.response(2);
    return verdict(
      isDeepStrictEqual(seen[0], withFields) ? undefined : `the handler saw ${JSON.stringify(seen[0])}`,
      error === undefined ? undefined : `the unknown type was refused with ${error.code}`,
      error !== undefined || isDeepStrictEqual(seen[1], withType) ? undefined : "the unknown type was lost",
    );
  },
  sdk: 'wrong: the handler saw {"cwd":"/","mcpServers":[{"name":"files","command":"/bin/true","args":[],"env":[]}]}; the unknown type was refused with -32602',
};

export const notFoundStaysAnError: Scenario = {
  id: 4,
  name: "session/close fails with -32002 if the agent answers so",
  async run(subject) {
    const error = { code: -32002, message: "no such session here", data: { sessionId: "gone" } };
    const agent = agentPeer({ "session/close": () => ({ error }) });
    const client = await subject.connectClient(agent.wire);
    const reply = await client.request("session/close", { sessionId: "gone" });
    await client.close();
    return verdict(isDeepStrictEqual(reply, { error }) ? undefined : `the caller got ${JSON.stringify(reply)}`);
  },
  sdk: 'wrong: the caller got {"result":{}}',
};

export const relativeFolderIsNotSent: Scenario = {
  id: 11,
  name: "a client does not send a relative cwd",
  async run(subject) {
    const agent = agentPeer({ "session/new": () => ({ result: { sessionId: "s1" } }) });
    const client = await subject.connectClient(agent.wire);
    const started = await client.newSession({ cwd: "src" }).then(
      () => true,
      () => false,
    );
    await client.close();
    const sent = agent.received.some(({ method }) => method === "session/new");
    return verdict(started ? "the session was started" : undefined, sent ? "it was sent" : undefined);
  },
  sdk: "wrong: the session was started; it was sent",
};

export const relativeFolderIsRefused: Scenario = {
  id: 11,
  name: "an agent refuses a relative cwd with -32602",
  async run(subject) {
    let served = false;
    const client = await clientPeer((wire) =>
      subject.serveAgent(wire, {
        async "session/new"() {
          served = true;
          return { sessionId: "s1" };
        },
      }),
    );
    client.write({ id: 1, method: "session/new", params: { cwd: "src", mcpServers: [] } });
    const { error } = await client.response(1);
    return verdict(
      served ? "the handler received it" : undefined,
      error?.code === -32602 ? undefined : `the answer was ${error?.code ?? "a session"}`,
    );
  },
  sdk: "wrong: the handler received it; the answer was a session",
};
