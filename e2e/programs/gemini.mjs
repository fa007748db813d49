// Gemini CLI, driven by its backend: headless if no question can come up, otherwise over ACP.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { program } from "../agents/program.mjs";

export const gemini = {
  name: "gemini",
  version: "0.61.0",
  backend: "gemini-cli",

  async prepare({ home, modelUrl }) {
    const config = join(home, ".gemini");
    await mkdir(config, { recursive: true });
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
    };
    await writeFile(join(config, "settings.json"), JSON.stringify(settings));
    const command = [process.execPath, program("@google/gemini-cli/bundle/gemini.js")];
    return {
      toml: ['backend = "gemini-cli"', `command = ${JSON.stringify(command)}`, 'model = "gemini-2.5-flash"'].join("\n"),
      env: builtEnvironment({ home, extra: { GEMINI_API_KEY: "fake", GOOGLE_GEMINI_BASE_URL: modelUrl } }),
    };
  },

  permissionCall: ({ file }) => ({ name: "run_shell_command", input: { command: `touch '${file}'` } }),
  writeCall: ({ file, text }) => ({ name: "write_file", input: { file_path: file, content: text } }),
  mcpCall: ({ server, tool, input }) => ({ name: `mcp_${server}_${tool}`, input }),
};
