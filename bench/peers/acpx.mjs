// acpx: a command that drives an ACP agent and prints its output, with or without a stored session.
import { spawnSync } from "node:child_process";
import { builtEnvironment } from "../../dist/testing/index.js";
import { processesOf } from "../../e2e/wire.mjs";
import { figures } from "../server/deliver.mjs";
import { Count } from "../server/count.mjs";
import { started } from "../server/program.mjs";

/** `how` is `exec`, which stores nothing, or `prompt`, which uses the process that owns the session. */
export async function runAcpx({ folder, agent, program, how }) {
  const env = builtEnvironment({ home: folder });
  const words = (...rest) => [...program, "--agent", agent.command.join(" "), "--format", "json", ...rest];
  if (how === "prompt") {
    const [file, ...args] = words("sessions", "new");
    const { status, stderr } = spawnSync(file, args, { cwd: folder, env, encoding: "utf8" });
    if (status !== 0) throw new Error(`acpx sessions new exited with code ${status}: ${stderr}`);
  }
  const { total, inARound } = agent;
  const count = new Count({ total, inARound, end: "\n", only: "agent_message_chunk" });
  const acpx = started(words(how, "go"), { cwd: folder, env, output: "pipe" });
  try {
    for await (const chunk of acpx.stdout) count.take(chunk);
    await acpx.ended;
    return figures([count.figures()], agent);
  } finally {
    await acpx.end();
    for (const { pid } of processesOf(folder)) endIfThere(pid); // it keeps a process for the next prompt
  }
}

function endIfThere(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
