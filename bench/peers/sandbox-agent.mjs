// sandbox-agent: its server forwards the messages of an ACP agent over SSE and stores nothing.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { ask, freePort, started, whenAnswered } from "../server/program.mjs";

/** Installs the agent where the server looks for its agent `mock`. */
export async function startSandboxAgent({ folder, agent, program }) {
  const env = builtEnvironment({ home: folder });
  const launchers = join(env.XDG_DATA_HOME, "sandbox-agent", "bin", "agent_processes");
  await mkdir(launchers, { recursive: true });
  const words = agent.command.map((word) => `'${word}'`).join(" ");
  await writeFile(join(launchers, "mock-acp"), `#!/bin/sh\nexec ${words}\n`, { mode: 0o755 });
  const port = await freePort();
  const command = [program, "server", "--no-token", "--no-telemetry", "--port", String(port)];
  const server = started(command, { cwd: folder, env });
  await whenAnswered(`http://127.0.0.1:${port}/v1/health`);
  let opened = 0;
  return {
    only: "agent_message_chunk",
    /** Each session has its own agent process, which ends with the server. */
    async openSession() {
      const url = `http://127.0.0.1:${port}/v1/acp/bench-${(opened += 1)}`;
      const call = calling(url);
      await call("initialize", { protocolVersion: 1, clientCapabilities: {} });
      const { sessionId } = await call("session/new", { cwd: folder, mcpServers: [] });
      const prompt = () => call("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
      return { url, headers: { accept: "text/event-stream" }, prompt };
    },
    [Symbol.asyncDispose]: () => server.end(),
  };
}

function calling(url) {
  let id = 0;
  return async (method, params) => {
    const { result, error } = await ask(`${url}?agent=mock`, { jsonrpc: "2.0", id: (id += 1), method, params });
    if (error !== undefined) throw new Error(`sandbox-agent answered ${method} with ${JSON.stringify(error)}`);
    return result;
  };
}
