// Runs a program and records its arguments, input, output, signals and exit. Forwards all bytes unchanged.
// Usage: node tee.mjs FOLDER COUNT -- COMMAND… ARGS…, where COMMAND has COUNT words. Each launch gets its own file.
import { spawn } from "node:child_process";
import { appendFileSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";

const [folder, count, , ...command] = process.argv.slice(2);
const [program, ...args] = command;
const file = nextFile();
const began = Date.now();
note({ dir: "argv", args: command.slice(Number(count)) });

const child = spawn(program, args, { stdio: ["pipe", "pipe", "pipe"] });
pass(process.stdin, child.stdin, "in");
pass(child.stdout, process.stdout, "out");
pass(child.stderr, process.stderr, "err");
process.stdin.once("end", () => note({ dir: "eof" }));
for (const stream of [child.stdin, process.stdout, process.stderr]) stream.on("error", () => undefined);
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) {
  process.on(signal, () => {
    note({ dir: "signal", signal });
    child.kill(signal);
  });
}
child.once("error", ({ message }) => {
  process.stderr.write(`${message}\n`);
  process.exit(127);
});
child.once("close", (code, signal) => {
  note({ dir: "exit", code, signal });
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

/** Forwards bytes immediately. Records a line when it is complete, and the rest at the end. */
function pass(from, to, dir) {
  let rest = "";
  const decoder = new TextDecoder();
  from.on("data", (bytes) => {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop();
    for (const line of lines) note({ dir, line });
    if (!to.write(bytes)) {
      from.pause();
      to.once("drain", () => from.resume());
    }
  });
  from.once("end", () => {
    if (rest !== "") note({ dir, line: rest });
    if (to === child.stdin) to.end();
  });
}

/** Writes synchronously, because this process may be killed next. */
function note(step) {
  appendFileSync(file, `${JSON.stringify({ at: Date.now() - began, ...step })}\n`);
}

function nextFile() {
  for (let launch = 1; ; launch += 1) {
    const path = join(folder, `${String(launch).padStart(3, "0")}.ndjson`);
    try {
      writeSync(openSync(path, "wx"), "");
      return path;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
  }
}
