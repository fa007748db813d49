import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { processesMarked } from "../../stdx/index.ts";
import { builtEnvironment, temporaryFolder, writeAcpAgent, type AcpScript } from "../../testing/index.ts";
import { LineClient } from "../conductor/test-line-client.ts";
import { openProxy, startAgent, transportPair } from "../index.ts";

const MAIN = fileURLToPath(new URL("../../../dist/cli/main.cjs", import.meta.url));
const PERMISSION = "session/request_permission";

/** The client, a proxy here, and behind it the agent or another proxy process with the agent. */
async function open(script: AcpScript, behindAnother: boolean) {
  const folder = await temporaryFolder();
  const { command } = await writeAcpAgent(folder.path, script);
  const marker = `proxied-${process.pid}-${Math.random().toString(16).slice(2)}`;
  const child = await startAgent({
    command: behindAnother ? [process.execPath, MAIN, "acp", "proxy", "--", ...command] : command,
    cwd: folder.path,
    env: builtEnvironment({ home: folder.path }),
    marker,
  });
  const [near, far] = transportPair();
  const proxy = openProxy({ transport: far }, { transport: child.transport, exit: () => child.exit() });
  const client = new LineClient(near);
  return {
    client,
    proxy,
    child,
    kill: () => process.kill(child.identity.pid, "SIGKILL"),
    left: () => processesMarked(marker),
    async [Symbol.asyncDispose]() {
      client.destroy();
      await proxy.close();
      await child.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

describe.each([
  ["the agent", false],
  ["another proxy, in front of an agent that ignores SIGTERM", true],
])("killing %s", (_, behindAnother) => {
  it("fails the open request once with the exit, closes the client's connection, and leaves nothing running", async () => {
    const script: AcpScript = {
      prompts: [[{ say: "one" }, { permission: {} }]],
      process: { ignoreEof: true, ignoreSigterm: true },
    };
    await using scene = await open(script, behindAnother);
    const { client } = scene;
    await client.request("initialize", { protocolVersion: 1 });
    const prompt = client.prompt(await client.newSession());
    const permission = await client.called(PERMISSION);
    scene.kill();
    expect(await client.answerTo(prompt)).toMatchObject({
      error: { code: -32603, message: "the agent ended (signal SIGKILL)", data: { end: "eof", signal: "SIGKILL" } },
    });
    expect(await client.called("$/cancel_request")).toMatchObject({ params: { requestId: permission.id } });
    await scene.proxy.closed;
    await client.over();
    expect(client.answersTo(prompt)).toHaveLength(1);
    await scene.child.close();
    expect(scene.left()).toEqual([]);
  });
});

it("reports the exit code and the last output of an agent that exits during a request", async () => {
  const script: AcpScript = {
    on: { "session/new": { steps: [{ stderr: "out of credit\n" }, { exit: { code: 7 } }] } },
  };
  await using scene = await open(script, false);
  await scene.client.request("initialize", { protocolVersion: 1 });
  const answer = await scene.client.request("session/new", { cwd: "/project", mcpServers: [] });
  expect(answer.error?.message).toBe("the agent ended (exit code 7); its last output: out of credit");
  await scene.client.over();
});
