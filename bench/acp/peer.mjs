// Starts an agent, alone or behind proxies, with a session.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const AGENT = [process.execPath, fileURLToPath(new URL("./agent.mjs", import.meta.url))];
const CLI = fileURLToPath(new URL("../../dist/cli/main.cjs", import.meta.url));
const PROXY = [process.execPath, CLI, "acp", "proxy"];

export const commands = {
  agent: () => AGENT,
  /** Builds the command: each proxy starts the next one. */
  nested: (proxies) => [...Array.from({ length: proxies }, () => [...PROXY, "--"]).flat(), ...AGENT],
  conducted: (proxies) => {
    const proxy = PROXY.map((word) => `'${word}'`).join(" ");
    const chain = Array.from({ length: proxies }, () => ["--proxy", proxy]).flat();
    return [process.execPath, CLI, "acp", "conductor", ...chain, "--", ...AGENT];
  },
};

/** Starts the command, opens a session, passes both to `use`, and waits for the exit. */
export async function withPeer({ command: [file, ...args], reader, onUpdate }, use) {
  const child = spawn(file, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = once(child, "close");
  const peer = reader(child, onUpdate);
  await peer.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await peer.request("session/new", { cwd: "/", mcpServers: [] });
  const prompt = (updates) =>
    peer.request("session/prompt", { sessionId, prompt: [{ type: "text", text: String(updates) }] });
  const result = await use({ ...peer, prompt, child });
  await peer.close();
  await ended;
  return result;
}
