// Runs a program and puts what programs print by accident before each of its first lines, some of it without an end.
// Usage: node noisy.mjs -- PROGRAM ARGS…; ROOKERY_NOISE_LINE is how long the longest line is, in bytes (50 MB).
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
  "\u001B[2K\r", // and then the program's own line, on the same line
];

/** Most programs say a line or two when they start, and no program less than four in all. */
const IN_A_TURN = 3;

let rest = Buffer.alloc(0);
let lines = 0;
/** All that came so far, passed on. */
let passed = Promise.resolve();
// What is not written yet waits here: the program is not read while our reader is slow.
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
    // All of it before the first line, and once more when a turn runs for sure; then one before each.
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
