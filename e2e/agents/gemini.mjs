// Gemini CLI, which supports ACP itself.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { program } from "./program.mjs";

export const gemini = {
  name: "gemini",
  version: "0.61.0",
  protocolVersions: [1],

  async prepare({ home, modelUrl }) {
    const config = join(home, ".gemini");
    await mkdir(config, { recursive: true });
    const settings = {
      security: { auth: { selectedType: "gemini-api-key" } },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
    };
    await writeFile(join(config, "settings.json"), JSON.stringify(settings));
    return {
      command: [process.execPath, program("@google/gemini-cli/bundle/gemini.js"), "--acp", "-m", "gemini-2.5-flash"],
      env: builtEnvironment({
        home,
        extra: {
          GEMINI_API_KEY: "fake",
          GOOGLE_GEMINI_BASE_URL: modelUrl,
          GEMINI_CLI_TRUST_WORKSPACE: "true",
          // Without this, it starts a second process that does not end with the first.
          GEMINI_CLI_NO_RELAUNCH: "true",
        },
      }),
    };
  },

  permissionCall: ({ file }) => ({ name: "run_shell_command", input: { command: `touch '${file}'` } }),
  writeCall: ({ file, text }) => ({ name: "write_file", input: { file_path: file, content: text } }),
  mcpCall: ({ server, tool, input }) => ({ name: `mcp_${server}_${tool}`, input }),
};
