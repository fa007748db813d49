// opencode, driven by its backend over ACP.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { program } from "../agents/program.mjs";

export const opencode = {
  name: "opencode",
  version: "1.18.33",
  backend: "opencode",

  async prepare({ home, modelUrl }) {
    const config = join(home, ".config", "opencode");
    await mkdir(config, { recursive: true });
    await writeFile(join(config, "opencode.json"), JSON.stringify(settings(modelUrl)));
    const command = [program("opencode-linux-x64-baseline/bin/opencode")];
    return {
      toml: ['backend = "opencode"', `command = ${JSON.stringify(command)}`, 'model = "fake/fake-model"'].join("\n"),
      env: builtEnvironment({
        home,
        extra: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
      }),
    };
  },

  permissionCall: ({ file }) => ({ name: "bash", input: { command: `touch '${file}'`, description: "Makes a file" } }),
  writeCall: ({ file, text }) => ({ name: "write", input: { filePath: file, content: text } }),
  mcpCall: ({ server, tool, input }) => ({ name: `${server}_${tool}`, input }),
};

function settings(modelUrl) {
  return {
    autoupdate: false,
    share: "disabled",
    model: "fake/fake-model",
    small_model: "fake/fake-model",
    provider: {
      fake: {
        npm: "@ai-sdk/openai-compatible",
        options: { baseURL: `${modelUrl}/v1`, apiKey: "fake" },
        models: {
          "fake-model": {
            tool_call: true,
            limit: { context: 100_000, output: 8_000 },
            cost: { input: 1, output: 2 }, // USD per million tokens
          },
        },
      },
    },
  };
}
