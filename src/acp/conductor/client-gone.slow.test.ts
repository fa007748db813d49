import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { processesMarked } from "../../stdx/index.ts";
import { builtEnvironment, temporaryFolder, writeAcpAgent, type AcpScript } from "../../testing/index.ts";
import { streamTransport } from "../index.ts";
import { conducted, nested } from "./test-chain.ts";
import { LineClient } from "./test-line-client.ts";
import { eventually, NAMES, openProcesses } from "./test-processes.ts";

/** Never ends its turn, so nobody has anything to send to the client. */
const HANGS: AcpScript = { prompts: [[{ say: "one" }, { hang: true }]], process: { ignoreEof: true } };

describe("if the client disconnects while a prompt runs", () => {
  it("every program of a chain exits", async () => {
    await using folder = await temporaryFolder();
    await using chain = await openProcesses({ folder, script: HANGS, programs: NAMES });
    await chain.client.request("initialize", { protocolVersion: 1 });
    chain.client.prompt(await chain.client.newSession());
    await chain.client.called("session/update");
    expect(NAMES.flatMap((name) => chain.pids(name))).toHaveLength(4);
    chain.client.destroy();
    await chain.conductor.closed;
    expect(NAMES.flatMap((name) => chain.pids(name))).toEqual([]);
  });

  it.each([
    [
      "acp conductor",
      (agent: readonly string[]) => [
        "acp",
        "conductor",
        "--proxy",
        `${process.execPath} ${MAIN} acp proxy`,
        "--",
        ...agent,
      ],
    ],
    ["acp proxy", (agent: readonly string[]) => ["acp", "proxy", "--", ...agent]],
  ])("`rookery %s` exits with everything that it started", async (_, args) => {
    await using folder = await temporaryFolder();
    const { command } = await writeAcpAgent(folder.path, HANGS);
    const marker = `gone-${Date.now()}-${process.pid}`;
    const child = spawn(process.execPath, [MAIN, ...args(command)], {
      cwd: folder.path,
      env: builtEnvironment({ home: folder.path, extra: { ROOKERY_OWNER: marker } }),
      stdio: ["pipe", "pipe", "ignore"],
    });
    const exited = once(child, "exit");
    const client = new LineClient(streamTransport(child.stdout, child.stdin));
    await client.request("initialize", { protocolVersion: 1 });
    client.prompt(await client.newSession());
    await client.called("session/update");
    child.stdin.destroy();
    child.stdout.destroy();
    await exited;
    await eventually("the end of them all", () => processesMarked(marker).length === 0);
  });
});

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.cjs", import.meta.url));

describe.each([
  ["a conductor", conducted],
  ["byte streams", nested],
])("if the client ends its side of %s but keeps reading", (_, open) => {
  it("it gets its answers, then everything else exits", async () => {
    await using chain = open({
      script: { prompts: [[{ say: "one" }, { waitForMessage: "_ext/go" }, { say: "two" }]] },
      proxies: [{}, {}, {}],
    });
    await chain.client.request("initialize", { protocolVersion: 1 });
    const prompt = chain.client.prompt(await chain.client.newSession());
    await chain.client.called("session/update");
    chain.client.send({ method: "_ext/go" });
    await chain.client.end();
    expect(await chain.client.answerTo(prompt)).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(chain.client.text).toBe("one|two");
    await chain.agent.closed;
  });

  it("a question of the agent fails because nobody will answer it", async () => {
    await using chain = open({
      script: { prompts: [[{ waitForMessage: "_ext/go" }, { permission: {} }]] },
      proxies: [{}, {}, {}],
    });
    await chain.client.request("initialize", { protocolVersion: 1 });
    const prompt = chain.client.prompt(await chain.client.newSession());
    await chain.agent.receivedMethod("session/prompt");
    chain.client.send({ method: "_ext/go" });
    await chain.client.end();
    await chain.client.answerTo(prompt);
    expect(chain.client.text).toContain("the client closed the connection");
  });
});
