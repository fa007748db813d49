// Claude Code, driven by its backend over bidirectional stream-json.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { program } from "../agents/program.mjs";

export const claude = {
  name: "claude",
  version: "2.1.325",
  backend: "claude-code",

  async prepare({ home, modelUrl }) {
    const config = join(home, ".claude");
    await mkdir(config, { recursive: true });
    const command = [program("@anthropic-ai/claude-code-linux-x64/claude")];
    return {
      toml: ['backend = "claude-code"', `command = ${JSON.stringify(command)}`, 'model = "claude-sonnet-4-5"'].join(
        "\n",
      ),
      env: builtEnvironment({
        home,
        extra: {
          ANTHROPIC_BASE_URL: modelUrl,
          ANTHROPIC_API_KEY: "fake",
          CLAUDE_CONFIG_DIR: config,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
        },
      }),
    };
  },

  permissionCall: ({ file }) => ({ name: "Bash", input: { command: `touch '${file}'`, description: "Makes a file" } }),
  writeCall: ({ file, text }) => ({ name: "Write", input: { file_path: file, content: text } }),
  mcpCall: ({ server, tool, input }) => ({ name: `mcp__${server}__${tool}`, input }),
  questionCall: ({ question, options }) => ({
    name: "AskUserQuestion",
    input: {
      questions: [
        {
          question,
          header: "Question",
          multiSelect: false,
          options: options.map((label) => ({ label, description: label })),
        },
      ],
    },
  }),
};
