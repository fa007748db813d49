// Replays a recording of a program, and waits for the recorded input where the program did.
// Usage: node main.mjs FOLDER RECORDING ARGS…; FOLDER stores which launches were replayed, and all input.
import { appendFileSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fitsArgs, fitsLine, isMessage, Names, readRecording } from "./recording.mjs";

const [folder, file, ...args] = process.argv.slice(2);
const { launches } = readRecording(file);
const given = [...args, ...Object.entries(process.env).map(([name, value]) => `${name}=${value}`)];
/** Reads the files now, because they may be deleted soon after the start. */
const settings = given.flatMap(filesIn);
const told = [...given, ...settings];
const names = new Names([
  ["/scene/work", process.cwd()],
  ["/scene/home", process.env.HOME ?? ""],
]);
const lines = [];
const signals = new Set();
let ended = false;
let wake = () => undefined;

for (const text of [JSON.stringify(args), ...settings]) hear(text);
const launch = take();
names.learnArgs(launch.args, args);
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => onSignal(signal));
createInterface({ input: process.stdin, crlfDelay: Infinity })
  .on("line", (line) => {
    if (line === "") return;
    hear(line);
    told.push(line);
    lines.push(line);
    wake();
  })
  .once("close", () => {
    ended = true;
    wake();
  });

setInterval(() => undefined, 2 ** 30); // keeps the process alive
await play(launch.steps);
// A recording without an exit was killed: waits until the input ends, unless the recording already contains that.
const heardEnd = launch.steps.some(({ dir }) => dir === "eof");
await until(() => ended && !heardEnd);
process.exit(0);

async function play(steps) {
  for (const [index, step] of steps.entries()) {
    switch (step.dir) {
      case "out":
        process.stdout.write(`${names.told(step.line)}\n`);
        break;
      case "err":
        process.stderr.write(`${names.told(step.line)}\n`);
        break;
      case "in":
        await listen(step, steps.slice(index));
        break;
      case "file":
        writeFileSync(names.told(step.path), step.text);
        break;
      case "mcp":
        await (await import("./call.mjs")).callTool(step, told);
        break;
      case "eof":
        if (!speaksOn(steps.slice(index + 1))) await until(() => ended);
        break;
      case "signal":
        await until(() => signals.has(step.signal));
        break;
      case "exit":
        await leave(step);
    }
  }
}

/** True if the program wrote more output after its input ended, so that it did not wait for the end. */
function speaksOn(rest) {
  return rest.some(({ dir }) => dir === "out");
}

/** Waits for the line that matches the step. Fails on a line that matches no later step either. */
async function listen(step, rest) {
  const expected = rest.filter(({ dir }) => dir === "in");
  const fitting = () => lines.findIndex((line) => fitsLine(step.line, line));
  await until(
    () => fitting() !== -1 || ended || lines.some((line) => !expected.some((each) => fitsLine(each.line, line))),
  );
  const index = fitting();
  if (index !== -1) {
    names.learn(step.line, lines.splice(index, 1)[0]);
  } else if (lines.length > 0) {
    fail(`unexpected input: ${lines[0]}\nrecorded: ${step.line}`);
  } else if (isMessage(step.line)) {
    process.exit(0); // the input has ended
  }
}

async function leave({ code, signal }) {
  if (signal !== null) process.removeAllListeners(signal);
  if (signal !== null) process.kill(process.pid, signal);
  await new Promise((resolve) => process.stdout.write("", resolve));
  process.exit(code ?? 1);
}

function onSignal(signal) {
  signals.add(signal);
  wake();
  if (launch.steps.some((step) => step.dir === "signal" && step.signal === signal)) return;
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

/** Claims the first unused launch with matching arguments. Two processes never claim the same one. */
function take() {
  for (const [index, each] of launches.entries()) {
    if (!fitsArgs(each.args, args)) continue;
    try {
      openSync(join(folder, `played-${index}`), "wx");
      return each;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
  }
  return fail(`the recording has no unused launch with these arguments: ${JSON.stringify(args)}`);
}

/** Reads the files that an argument or a variable names. */
function filesIn(text) {
  return (text.match(/\/[^\s"'=]+\.(?:json|toml)\b/g) ?? []).flatMap((path) => {
    try {
      return [readFileSync(path, "utf8")];
    } catch {
      return []; // no such file
    }
  });
}

function hear(text) {
  appendFileSync(join(folder, "heard"), `${text}\n`);
}

async function until(isSo) {
  while (!isSo()) await new Promise((resolve) => (wake = resolve));
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(70);
}
