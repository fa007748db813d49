// A scripted stand-in for Claude Code. Runs a list of steps: send a record, wait for one, exit.
import { appendFileSync, closeSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [stepsFile, heardFile, ...args] = process.argv.slice(2);
const steps = JSON.parse(readFileSync(stepsFile, "utf8"));
const heard = [];
let prompt = "";
let wake = () => undefined;

const send = (record) => process.stdout.write(`${JSON.stringify(record).replaceAll("$PROMPT", prompt)}\n`);
const note = (record) => appendFileSync(heardFile, `${JSON.stringify(record)}\n`);
const answer = (request, response) =>
  send({ type: "control_response", response: { subtype: "success", request_id: request.request_id, response } });

note({ type: "started", args, env: process.env, servers: serversOf(args) });

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const record = JSON.parse(line);
    note(record);
    if (record.request?.subtype === "initialize" && steps[0]?.silent !== true) {
      const commands = [{ name: "review", description: "Reviews the changes", argumentHint: "[file]" }, { name: 7 }];
      answer(record, { claude_code_version: "9.9.9", commands });
    }
    if (record.request?.subtype === "interrupt") answer(record, {});
    if (record.type === "user") prompt = record.uuid;
    heard.push(record);
    wake();
  })
  .on("close", () => process.exit(0));

for (const step of steps) {
  if (step.send !== undefined) send(step.send);
  if (step.print !== undefined) process.stdout.write(step.print);
  if (step.stderr !== undefined) process.stderr.write(step.stderr);
  if (step.mute !== undefined) closeSync(1);
  if (step.needs !== undefined && process.env[step.needs] === undefined) break;
  if (step.exit !== undefined) process.exit(step.exit);
  if (step.wait !== undefined) await hearing(step.wait);
}

/** Waits for the first record of the kind that no earlier step consumed. */
async function hearing(kind) {
  for (;;) {
    const at = heard.findIndex((record) => record.type === kind || record.request?.subtype === kind);
    if (at !== -1) return heard.splice(at, 1)[0];
    await new Promise((resolve) => (wake = resolve));
  }
}

function serversOf(words) {
  const file = words.find((word) => word.startsWith("--mcp-config="))?.slice("--mcp-config=".length);
  return file === undefined ? undefined : { file, config: JSON.parse(readFileSync(file, "utf8")) };
}
