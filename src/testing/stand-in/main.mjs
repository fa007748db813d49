// Stands in for a program: plays what was recorded of it, waiting for what it was told then.
// Usage: node main.mjs FOLDER RECORDING ARGS…; FOLDER keeps which launches were played, and all that was heard.
import { appendFileSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fitsArgs, fitsLine, isMessage, Names, readRecording } from "./recording.mjs";

const [folder, file, ...args] = process.argv.slice(2);
const { launches } = readRecording(file);
const given = [...args, ...Object.entries(process.env).map(([name, value]) => `${name}=${value}`)];
/** Files may be gone soon: a program reads them when it starts. */
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

setInterval(() => undefined, 2 ** 30); // whatever it waits for, it waits
await play(launch.steps);
// What has no end in the recording was killed then: it stays, and where its input went on, until that ends.
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

/** A program that goes on speaking when its input has ended was told nothing by that end. */
function speaksOn(rest) {
  return rest.some(({ dir }) => dir === "out");
}

/** Takes the line that fits; whatever fits nothing that is still to come was never said to the real program. */
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
    fail(`this is not what was recorded: ${lines[0]}\nbut: ${step.line}`);
  } else if (isMessage(step.line)) {
    process.exit(0); // nobody speaks to it any more
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

/** The first launch that was started like this and was not played yet; two processes never take the same. */
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
  return fail(`nothing was recorded for these arguments: ${JSON.stringify(args)}`);
}

/** What is in the files that an argument or a variable names. */
function filesIn(text) {
  return (text.match(/\/[^\s"'=]+\.(?:json|toml)\b/g) ?? []).flatMap((path) => {
    try {
      return [readFileSync(path, "utf8")];
    } catch {
      return []; // it is no file that is there
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
