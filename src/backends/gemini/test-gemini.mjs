// A stand-in for headless Gemini CLI 0.61.0. Prints what the real one printed, and keeps its sessions in a file.
import { appendFileSync, closeSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { text } from "node:stream/consumers";

const [sessionsFile, argsFile, ...args] = process.argv.slice(2);
appendFileSync(argsFile, `${JSON.stringify(args)}\n`);
const print = (record) =>
  process.stdout.write(`${JSON.stringify({ timestamp: "2026-11-16T04:10:31.441Z", ...record })}\n`);
const sessions = existsSync(sessionsFile) ? JSON.parse(readFileSync(sessionsFile, "utf8")) : {};
const at = args.indexOf("--resume");
const id =
  at === -1 ? `00000000-0000-4000-8000-${String(Object.keys(sessions).length).padStart(12, "0")}` : args[at + 1];
const wasOverAcp = id.startsWith("session-"); // the scripted ACP agent's session ids
if (at !== -1 && sessions[id] === undefined && !wasOverAcp) {
  process.stderr.write(`Error resuming session: Invalid session identifier "${id}".\n`);
  process.exit(42);
}
const prompt = (await text(process.stdin)).trimEnd();
if (prompt.endsWith("no login")) {
  process.stderr.write(
    "Warning: Basic terminal detected\nWhen using Gemini API, you must specify the GEMINI_API_KEY environment variable.\n",
  );
  process.exit(41);
}
sessions[id] = [...(sessions[id] ?? []), prompt];
writeFileSync(sessionsFile, JSON.stringify(sessions));
const say = (content) => print({ type: "message", role: "assistant", content, delta: true });
const stats = { total_tokens: 245, input_tokens: 200, output_tokens: 40, cached: 30, input: 170, duration_ms: 179 };

print({ type: "init", session_id: id, model: "gemini-2.5-flash" });
print({ type: "message", role: "user", content: prompt });
if (prompt.endsWith("write")) {
  print({
    type: "tool_use",
    tool_name: "write_file",
    tool_id: "w1",
    parameters: { file_path: "a.txt", content: "one\n" },
  });
  print({ type: "tool_result", tool_id: "w1", status: "success" });
  print({ type: "tool_use", tool_name: "run_shell_command", tool_id: "s1", parameters: { command: "make" } });
  const error = { type: "tool_not_registered", message: "not found" };
  print({ type: "tool_result", tool_id: "s1", status: "error", output: "not found", error });
}
if (prompt.endsWith("limit")) {
  const message = "[API Error: You have exhausted your capacity on this model. Your quota will reset after 3h12m5s.]";
  print({ type: "result", status: "error", error: { type: "unknown", message }, stats });
  process.exit(173);
}
const stay = () => setInterval(() => undefined, 60_000);
if (prompt.endsWith("fall silent")) {
  closeSync(1);
  stay();
  await new Promise(() => undefined);
}
if (prompt.endsWith("stay")) stay();
if (prompt.endsWith("die")) process.kill(process.pid, "SIGKILL");
process.stdout.write("a word beside the records\n");
say("I heard ");
if (prompt.endsWith("wait")) await new Promise((resolve) => setTimeout(resolve, 600_000));
say(String(sessions[id].length));
print({ type: "result", status: "success", stats });
