// opencode: its server drives a model directly, so it gets a scripted model. It stores a message when it is complete.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { ask, freePort, started, whenAnswered } from "../server/program.mjs";

/** Environment variables that keep it from the network. */
export const OPENCODE_SETTINGS = { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" };

export async function startOpencode({ folder, model, program }) {
  const config = join(folder, ".config", "opencode");
  const work = join(folder, "work");
  await Promise.all([config, work].map((path) => mkdir(path, { recursive: true })));
  await writeFile(join(config, "opencode.json"), JSON.stringify(settings(model.url)));
  const port = await freePort();
  const command = [program, "serve", "--hostname", "127.0.0.1", "--port", String(port)];
  const server = started(command, { cwd: work, env: builtEnvironment({ home: folder, extra: OPENCODE_SETTINGS }) });
  const base = `http://127.0.0.1:${port}`;
  await whenAnswered(`${base}/global/health`);
  return {
    only: '"message.part.delta"',
    async openSession() {
      const { id } = await ask(`${base}/session`, {});
      const prompt = () => ask(`${base}/session/${id}/message`, { parts: [{ type: "text", text: "go" }] });
      return { url: `${base}/event`, headers: { accept: "text/event-stream" }, prompt };
    },
    [Symbol.asyncDispose]: () => server.end(),
  };
}

function settings(url) {
  const limit = { context: 100_000_000, output: 100_000_000 }; // prevents compaction
  return {
    autoupdate: false,
    share: "disabled",
    model: "fake/fake-model",
    small_model: "fake/fake-model",
    provider: {
      fake: {
        npm: "@ai-sdk/anthropic",
        options: { baseURL: `${url}/v1`, apiKey: "fake" },
        models: { "fake-model": { tool_call: true, limit } },
      },
    },
  };
}
