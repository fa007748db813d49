// Starts a process of a benchmark that prints "ready", waits for a line, works, and prints its result as JSON.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export function startChild(file, role, place, options) {
  const child = spawn(process.execPath, [file, role, place, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextMessage = async () => JSON.parse((await lines.next()).value ?? '{"died":true}');
  const ready = nextMessage();
  const result = ready.then(nextMessage).then(async (value) => {
    if (child.exitCode === null) await once(child, "exit");
    if (value.died) throw new Error(`the ${role} died`);
    return value;
  });
  return { ready, result, start: () => child.stdin.write("go\n") };
}
