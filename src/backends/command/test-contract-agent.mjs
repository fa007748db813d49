// A program for the contract suite: prints JSON lines, or plain text with --plain, and resumes a session with --resume.
// Usage: node test-contract-agent.mjs [--plain] [--model NAME] [--resume ID] PROMPT
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args.splice(args.indexOf(name), 2)[1] : undefined);
const isPlain = args[0] === "--plain" && args.shift() !== undefined;
const model = option("--model");
const resumed = option("--resume");
const [prompt] = args;
const session = resumed ?? randomUUID();
const file = join(process.env.HOME, `session-${session}`);
const say = (text) => console.log(isPlain ? text : JSON.stringify({ type: "text", text }));

if (resumed !== undefined && !existsSync(file)) {
  console.error(`there is no session ${resumed}`);
  process.exit(2);
}
appendFileSync(file, `${prompt}\n`);
appendFileSync(join(process.env.HOME, "heard"), `${process.argv.join(" ")}\n`);
if (!isPlain) console.log(JSON.stringify({ type: "init", session, model }));
const last = prompt.slice(prompt.lastIndexOf("Please"));
if (last.includes("think for ever")) {
  say("Thinking…");
  setInterval(() => undefined, 60_000);
} else if (isPlain) {
  say("Hello.");
} else {
  say("Hel");
  say("lo.");
}
