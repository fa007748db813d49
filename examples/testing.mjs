// Tests an agent without a paid model: a scripted one speaks the real wire format over a real socket.
import assert from "node:assert/strict";
import { Rookery, openMemoryStore } from "rookery";
import { builtEnvironment, call, collect, say, startModelServer, temporaryFolder, transcript } from "rookery/testing";

const folder = await temporaryFolder();
const model = await startModelServer([call("bash", { command: "echo hello > made.txt" }), say("Made it.")]);
const env = { ...builtEnvironment({ home: folder.path }), ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: "fake" };

const rookery = await Rookery.open({ env, cwd: folder.path, store: openMemoryStore() });
const session = await rookery.openSession({ permissions: "all" });
assert.deepEqual(transcript(await collect(session.prompt("Make a file"))), [
  "opened anthropic",
  "started Make a file",
  "tool bash: echo hello > made.txt",
  "tool ok",
  "says Made it.",
  "ended done",
]);
console.log("as scripted");

await rookery.close();
await model.close();
await folder[Symbol.asyncDispose]();
