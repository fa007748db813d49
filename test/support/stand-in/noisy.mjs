// Runs a program and adds noise before its output lines, as programs print it by accident; some noise has no newline.
// Usage: node noisy.mjs -- PROGRAM ARGS…; ROOKERY_NOISE_LINE is the length of the longest line in bytes (default: 50 MB).
import { spawn } from "node:child_process";

const [program, ...args] = process.argv.slice(process.argv.indexOf("--") + 1);
const longest = Number(process.env.ROOKERY_NOISE_LINE ?? 50 * 1024 * 1024);
const child = spawn(program, args, { stdio: ["inherit", "pipe", "inherit"] });

const NOISE = [
  "[info] listening\n",
  "\u001B[32mready\u001B[0m\n",
  "\u001B]0;a title\u0007\u001B]8;;https://agent.invalid\u001B\\a link\u001B]8;;\u001B\\\n",
  "loading 10 %\rloading 100 %\r\n",
  "two lines?\u2028no, one\u2029still\n",
  '{"half": \n',
  Buffer.from([0xff, 0xfe, 0xc0, 0x0a]),
  "\n\r\n   \n",
  () => Buffer.concat([Buffer.alloc(longest, "x"), Buffer.from("\n")]),
  "\u001B[2K\r", // the program's own line follows on the same line
];

/** Most programs print one or two lines at their start, and every program at least four in total. */
const IN_A_TURN = 3;

let rest = Buffer.alloc(0);
let lines = 0;
/** Resolves when all output so far has been forwarded. */
let passed = Promise.resolve();
// Backpressure: does not read from the program while our reader is slow.
child.stdout.on("data", (chunk) => {
  child.stdout.pause();
  passed = passed.then(() => pass(Buffer.concat([rest, chunk]))).then(() => void child.stdout.resume());
});
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.once("close", async (code, signal) => {
  await passed;
  await write(rest);
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});

async function pass(bytes) {
  let from = 0;
  for (let end = bytes.indexOf(10); end !== -1; end = bytes.indexOf(10, from)) {
    const line = bytes.subarray(from, end + 1);
    from = end + 1;
    // All noise before the first line and once more during a turn; one piece of noise before each other line.
    const isMuch = lines === 0 || lines === IN_A_TURN;
    const noise = isMuch ? NOISE : [NOISE[lines % NOISE.length]].filter((what) => typeof what === "string");
    for (const what of noise) await write(typeof what === "function" ? what() : what);
    const middle = Math.floor(line.length / 2);
    await write(line.subarray(0, middle));
    await new Promise(setImmediate);
    await write(line.subarray(middle));
    lines += 1;
  }
  rest = bytes.subarray(from);
}

function write(bytes) {
  return new Promise((resolve) => process.stdout.write(bytes, () => resolve()));
}
