/** Scenarios about the order in which messages arrive and are handled. */

import { isDeepStrictEqual } from "node:util";
import { agentPeer, eventually, Peer, says, turns } from "./test-peer.ts";
import { verdict, type Scenario } from "./test-scenario.ts";

const NEW_SESSION = { cwd: "/", mcpServers: [] };

/** Proxies commonly look at a response before they pass it on, for example to learn the session id. */
export const proxyKeepsOrder: Scenario = {
  id: 1,
  name: "a proxy that awaits before it answers keeps the response ahead of the update that follows it",
  async run(subject) {
    const client = new Peer();
    const agent = agentPeer();
    subject.serveProxy(client.wire, agent.wire, () => turns(1));
    client.write({ id: 7, method: "session/new", params: NEW_SESSION });
    const { id = null } = await agent.call("session/new");
    agent.write({ id, result: { sessionId: "s1" } }, says("hello"));
    await client.until(() => client.received.length === 2, "the response and the update");
    const order = client.received.map(({ method }) => method ?? "response").join(", ");
    return verdict(order === "response, session/update" ? undefined : `the client got ${order}`);
  },
  sdk: "wrong: the client got session/update, response",
};

export const sessionGetsEarlyUpdates: Scenario = {
  id: 5,
  name: "updates that arrive before the session/new response reach the session",
  async run(subject) {
    const agent = agentPeer();
    const client = await subject.connectClient(agent.wire);
    const starting = client.newSession({ cwd: "/" });
    const { id = null } = await agent.call("session/new");
    agent.write(says("early"), { id, result: { sessionId: "s1" } }, says("live"));
    const session = await starting;
    const first = await session.next();
    await client.close();
    return verdict(isDeepStrictEqual(first, says("early").params) ? undefined : "the early update was lost");
  },
  sdk: "wrong: the early update was lost",
};

export const notificationsAreHandledInOrder: Scenario = {
  id: 6,
  name: "a notification is handled only after the previous one",
  async run(subject) {
    const agent = agentPeer();
    const handled: string[] = [];
    const client = await subject.connectClient(agent.wire, {
      async onNotification(method) {
        await turns(method === "_x/slow" ? 20 : 1);
        handled.push(method);
      },
    });
    agent.write({ method: "_x/slow" }, { method: "_x/quick" });
    await eventually(() => handled.length === 2, "both notifications");
    await client.close();
    return verdict(handled[0] === "_x/slow" ? undefined : `handled ${handled.join(" before ")}`);
  },
  sdk: "wrong: handled _x/quick before _x/slow",
};
