/** Scenarios about the byte streams: noise, floods, limits and ends. */

import { once } from "node:events";
import { agentPeer, clientPeer, eventually, patiently, turns } from "./test-peer.ts";
import { Flood } from "./test-flood.ts";
import { verdict, type Scenario } from "./test-scenario.ts";
import type { Reply, SubjectSession } from "./test-subject.ts";
import { builtEnvironment } from "../../testing/environment.ts";
import { temporaryFolder } from "../../testing/repository.ts";

export const noiseIsNotAnswered: Scenario = {
  id: 7,
  name: "an agent's stdout line that is not JSON is not answered",
  async run(subject) {
    const agent = agentPeer({ "session/list": () => ({ result: { sessions: [] } }) });
    const client = await subject.connectClient(agent.wire);
    agent.write("Loading the model, please wait...");
    await turns();
    const reply = await client.request("session/list", {});
    await client.close();
    const written = agent.received.find(({ method }) => method === undefined);
    return verdict(
      "result" in reply ? undefined : "the connection did not go on",
      written === undefined ? undefined : `the agent was sent an error ${written.error?.code ?? "without a code"}`,
    );
  },
  sdk: "wrong: the agent was sent an error -32700",
};

export const readingWaitsForTheReader: Scenario = {
  id: 8,
  name: "200,000 unread updates of a turn stay at their source, and all arrive when someone reads them",
  async run(subject) {
    const agent = agentPeer({ "session/new": () => ({ result: { sessionId: "s1" } }) });
    const client = await subject.connectClient(agent.wire);
    const session = await client.newSession({ cwd: "/" });
    session.prompt("talk");
    await agent.call("session/prompt");
    const flood = new Flood(200_000);
    agent.pour(flood.source);
    await flood.still();
    const taken = flood.taken;
    if (taken === flood.count) {
      await client.close();
      return verdict(`all ${taken} were taken in with no reader`);
    }
    const spoilt = await patiently(firstSpoilt(session, flood), "all updates");
    await client.close();
    return verdict(taken > flood.count / 10 ? `${taken} were taken in with no reader` : undefined, spoilt);
  },
  sdk: "wrong: all 200000 were taken in with no reader",
};

async function firstSpoilt(session: SubjectSession, flood: Flood): Promise<string | undefined> {
  for (let index = 0; index < flood.count; index += 1) {
    const got = JSON.stringify(await session.next());
    if (got !== flood.params(index)) return `update ${index} was ${got}`;
  }
  return undefined;
}

export const halfCloseIsFlushed: Scenario = {
  id: 9,
  name: "a response that is ready after the client has closed its side is still sent",
  async run(subject) {
    let answered = false;
    const client = await clientPeer((wire) => {
      const ended = once(wire.input, "end");
      subject.serveAgent(wire, {
        async "session/prompt"() {
          await ended;
          await turns(20);
          answered = true;
          return { stopReason: "end_turn" };
        },
      });
    });
    const params = { sessionId: "s1", prompt: [{ type: "text", text: "hi" }] };
    client.write({ id: 1, method: "session/prompt", params });
    client.end();
    await eventually(() => answered, "the handler");
    await turns();
    const response = client.received.find(({ id }) => id === 1);
    return verdict(response === undefined ? "the response was never written" : undefined);
  },
  sdk: "wrong: the response was never written",
};

export const oversizeFailsOneRequest: Scenario = {
  id: 10,
  name: "an oversize message fails only the request that it answers",
  async run(subject) {
    const agent = agentPeer({
      "_x/huge": () => ({ result: "x".repeat(1_000_000) }),
      "_x/small": () => ({ result: "small" }),
    });
    const client = await subject.connectClient(agent.wire, { maxMessageBytes: 100_000 });
    const huge = await client.request("_x/huge", {});
    const small = await client.request("_x/small", {});
    await client.close();
    return verdict(
      "result" in huge ? "the oversize result came through" : undefined,
      "result" in small ? undefined : `the next request failed with "${formatReply(small)}"`,
    );
  },
  sdk: 'wrong: the next request failed with "Incoming ACP data exceeds the configured 100000 byte limit"',
};

const STDERR = "cannot read the licence";
const EXIT_CODE = 43;
/** Answers `initialize` and exits on the next request. */
const DYING_AGENT = `
  let requests = 0;
  require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
    requests += 1;
    if (requests === 2) process.stderr.write("${STDERR}\\n", () => process.exit(${EXIT_CODE}));
    else console.log(JSON.stringify({ jsonrpc: "2.0", id: JSON.parse(line).id, result: { protocolVersion: 1 } }));
  });
`;

export const deathIsExplained: Scenario = {
  id: 10,
  name: "a request during which the agent dies fails with its exit code and the end of its stderr",
  async run(subject) {
    await using home = await temporaryFolder();
    const env = builtEnvironment({ home: home.path });
    const client = await subject.spawnClient(process.execPath, ["-e", DYING_AGENT], { cwd: home.path, env });
    const reply = await patiently(client.request("session/list", {}), "the failure of the request");
    await client.close();
    return verdict(
      failureContains(reply, EXIT_CODE) ? undefined : `"${formatReply(reply)}" tells no exit code`,
      failureContains(reply, STDERR) ? undefined : `"${formatReply(reply)}" tells no stderr`,
    );
  },
  sdk: 'wrong: "ACP connection closed" tells no exit code; "ACP connection closed" tells no stderr',
};

/** True if the failure contains this in its message or in any field. */
function failureContains(reply: Reply, what: string | number): boolean {
  return "failure" in reply && containsValue(reply.failure, what, 4);
}

function containsValue(value: unknown, what: string | number, depth: number): boolean {
  if (value === what) return true;
  if (typeof value === "string") return typeof what === "string" && value.includes(what);
  if (typeof value !== "object" || value === null || depth === 0) return false;
  return Object.getOwnPropertyNames(value)
    .filter((name) => name !== "stack")
    .some((name) => containsValue((value as Record<string, unknown>)[name], what, depth - 1));
}

function formatReply(reply: Reply): string {
  if ("failure" in reply) return reply.failure.message;
  return "error" in reply ? reply.error.message : "a result";
}
