// Measures how many texts reach the readers of an event stream during a burst, and how fast.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const READERS = fileURLToPath(new URL("./readers.mjs", import.meta.url));

/**
 * A server is `{ only, openSession() }`, a session is `{ url, headers, prompt() }`. `prompt` resolves at or before the end
 * of the turn. The time is measured from the agent's first text to the last text of the slowest reader. `after` is called
 * while the readers are connected, and its result is added.
 */
export async function deliver(server, agent, { readers, stalled = 0, after = async () => ({}) }) {
  const { url, headers, prompt } = await server.openSession();
  const child = fork(READERS, [], { env: {}, stdio: ["ignore", "inherit", "inherit", "ipc"] });
  try {
    const died = once(child, "exit").then(([code]) =>
      Promise.reject(new Error(`the readers exited with code ${code}`)),
    );
    died.catch(() => undefined);
    const heard = async () => (await Promise.race([once(child, "message"), died]))[0];
    const { total, inARound } = agent;
    child.send({ url, headers, readers, stalled, total, inARound, only: server.only });
    await heard();
    await prompt();
    child.send("over");
    const each = await heard();
    return { ...figures(each, agent), ...(await after()) };
  } finally {
    child.kill("SIGKILL");
  }
}

/** `rate`: texts per second of one reader. `all`: of all readers together. `lost`: the share of lost texts. */
export function figures(each, { total, begunAt }) {
  const sum = (key) => each.reduce((so, one) => so + one[key], 0);
  const seconds = (Math.max(...each.map(({ lastAt }) => lastAt)) - begunAt()) / 1000;
  const all = sum("received") / seconds;
  return { rate: all / each.length, all, lost: sum("lost") / (total * each.length), disordered: sum("disordered") };
}
