// Starts a real agent with a temporary home, a working directory and a scripted model.
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startModelServer } from "../dist/testing/index.js";
import { modelScript } from "./agents/model.mjs";
import { processesOf, startAgent } from "./wire.mjs";

const NOTES_SERVER = fileURLToPath(new URL("fixtures/notes-server.mjs", import.meta.url));

/** Disposal ends every process of the scene and removes its files. */
export async function openScene(recipe) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "rookery-e2e-")));
  const [home, cwd] = [join(root, "home"), join(root, "work")];
  await Promise.all([mkdir(home), mkdir(cwd)]);
  const files = { made: join(cwd, "made.txt"), written: join(cwd, "written.txt"), notes: join(root, "notes.txt") };
  const model = await startModelServer(modelScript(recipe, files));
  const launch = await recipe.prepare({ home, cwd, modelUrl: model.url });
  return {
    ...{ root, home, cwd, files, model, launch },
    start: (answer) => startAgent({ ...launch, cwd, answer }),
    notesServer: { name: "notes", command: process.execPath, args: [NOTES_SERVER, files.notes], env: [] },
    /** Returns the arguments of the MCP tool calls. */
    notes: () => (existsSync(files.notes) ? readFileSync(files.notes, "utf8").trimEnd().split("\n") : []),
    made: () => existsSync(files.made),
    processes: () => processesOf(home),
    async [Symbol.asyncDispose]() {
      for (const { pid } of processesOf(home)) end(pid);
      await model.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Returns a handler that answers permission requests with the first option of this kind. */
export function choose(kind) {
  return (method, params) => {
    const option = method === "session/request_permission" && params.options.find((each) => each.kind === kind);
    if (!option) throw Object.assign(new Error(`this client does not support ${method}`), { code: -32601 });
    return { outcome: { outcome: "selected", optionId: option.optionId } };
  };
}

function end(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}
