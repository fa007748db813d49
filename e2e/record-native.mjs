// Records the files in which the real programs keep a session of three prompts, into test/support/native/.
// Usage: node e2e/record-native.mjs [claude|codex|gemini …], then set the IDs in src/rookery/test-native-scene.ts.
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startModelServer } from "../dist/testing/index.js";
import { modelScript, PROMPTS } from "./agents/model.mjs";
import { install } from "./install.mjs";
import { promptOutside } from "./native-sessions.mjs";
import { programs } from "./programs/index.mjs";

/** Where each program keeps its sessions, below the home, and the ID in the name or the text of a file. */
const KEPT = {
  claude: { folder: ".claude/projects", id: (path) => /([^/]+)\.jsonl$/.exec(path)[1] },
  codex: { folder: ".codex/sessions", id: (path) => /([0-9a-f]{8}(?:-[0-9a-f]+){4})\.jsonl$/.exec(path)[1] },
  gemini: { folder: ".gemini/tmp", id: (_, text) => JSON.parse(text.split("\n")[0]).sessionId },
};
/** Records that only repeat what the model was sent. */
const REQUESTS = new Set(["api-request", "api-request-blob", "api-request-shape"]);
const MAX_TEXT = 400;

install();
for (const name of process.argv.length > 2 ? process.argv.slice(2) : Object.keys(KEPT)) await record(name);

async function record(name) {
  const root = await realpath(await mkdtemp(join(tmpdir(), "rookery-native-")));
  const [home, cwd] = [join(root, "home"), join(root, "work")];
  await Promise.all([mkdir(home), mkdir(cwd)]);
  const recipe = programs[name];
  const model = await startModelServer(
    modelScript(recipe, { made: join(cwd, "made.txt"), written: join(cwd, "written.txt") }),
  );
  try {
    const { env, toml } = await recipe.prepare({ home, cwd, modelUrl: model.url });
    const command = JSON.parse(/^command = (.*)$/m.exec(toml)[1]);
    let resume;
    for (const prompt of [PROMPTS.hello, PROMPTS.permission, PROMPTS.write]) {
      await promptOutside({ name, command, env, cwd, prompt, ...(resume !== undefined && { resume }) });
      const { path, text } = await findSession(join(home, KEPT[name].folder));
      resume ??= KEPT[name].id(path, text);
    }
    const { text } = await findSession(join(home, KEPT[name].folder));
    const lines = text.split("\n").filter((line) => line !== "" && !REQUESTS.has(JSON.parse(line).type));
    const kept = lines.map((line) => `${JSON.stringify(withoutProse(JSON.parse(line)))}\n`).join("");
    await writeFile(
      new URL(`../test/support/native/${name}.jsonl`, import.meta.url),
      kept.replaceAll(root, "/scene").replaceAll(model.url, "http://127.0.0.1:1"),
    );
    process.stdout.write(`${name}: ${lines.length} records of session ${resume}\n`);
  } finally {
    await model.close();
    await rm(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** A program that writes another file when it resumes has most of the conversation in the largest one. */
async function findSession(folder) {
  const names = await readdir(folder, { recursive: true });
  const files = await Promise.all(
    names
      .filter((name) => name.endsWith(".jsonl"))
      .map(async (name) => ({ path: join(folder, name), text: await readFile(join(folder, name), "utf8") })),
  );
  return files.sort((one, other) => other.text.length - one.text.length)[0];
}

/** Removes the vendor's instructions: only what was said and the structure of the records matter. */
function withoutProse(value, key) {
  if (key === "attachment") return { type: value.type };
  if (key === "rendered" || key === "base_instructions" || key === "state") return undefined;
  if (typeof value === "string") return value.length < MAX_TEXT ? value : "(shortened)";
  if (Array.isArray(value)) return value.map((each) => withoutProse(each));
  if (typeof value !== "object" || value === null) return value;
  if (value.role === "developer") return { ...value, content: [] };
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutProse(each, name)]));
}
