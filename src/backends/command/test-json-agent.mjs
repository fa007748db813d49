#!/usr/bin/env node
/**
 * A program that prints JSON lines: `test-json-agent.mjs [--resume ID] [--model NAME] [PROMPT]`. Prints its session id
 * first, then text, and keeps the prompts of each session in a file. The prompt decides what it does.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const args = process.argv.slice(2);
const option = (name) => (args.includes(name) ? args.splice(args.indexOf(name), 2)[1] : undefined);
const resumed = option("--resume");
const model = option("--model");
const prompt = args[0] ?? (await text(process.stdin)).trim();
const session = resumed ?? randomUUID();
const file = join(process.env.HOME ?? ".", `session-${session}`);
const say = (record) => console.log(JSON.stringify(record));

if (resumed !== undefined && !existsSync(file)) {
  console.error(`no session ${resumed}`);
  process.exit(2);
}
appendFileSync(file, `${prompt}\n`);
say({ type: "init", session: { ids: [session] }, model });
if (prompt.includes("wait")) {
  say({ type: "text", part: { text: "Waiting." } });
  setInterval(() => undefined, 1_000);
} else if (prompt.includes("fail")) {
  console.error("there is no credit left");
  process.exitCode = 3;
} else if (prompt.includes("noise")) {
  process.stdout.write(
    '\u001b[2K\r50%\r{"type":"text","part":{"text":"Hello."}}\u001b[0m\n\u001b]0;title\u0007words\n',
  );
} else {
  say({ type: "text", part: { text: "Hello" } });
  say({ type: "text", part: { text: "." } });
  say({ type: "asked", asked: readFileSync(file, "utf8").trim().split("\n") });
}
