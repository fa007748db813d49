// Claude Code behind its ACP adapter. The adapter's SDK contains the program.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { program } from "./program.mjs";

export const claude = {
  name: "claude-agent-acp",
  version: "0.49.0",
  protocolVersions: [1],

  async prepare({ home, modelUrl }) {
    const config = join(home, ".claude");
    await mkdir(config, { recursive: true });
    return {
      command: [process.execPath, program("@agentclientprotocol/claude-agent-acp/dist/index.js")],
      env: builtEnvironment({
        home,
        extra: {
          ANTHROPIC_BASE_URL: modelUrl,
          ANTHROPIC_API_KEY: "fake",
          CLAUDE_CONFIG_DIR: config,
          CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
          DISABLE_AUTOUPDATER: "1",
          // Without this, the model has to search for the tools of MCP servers first, which a scripted model does not do.
          ENABLE_TOOL_SEARCH: "false",
        },
      }),
    };
  },

  permissionCall: ({ file }) => ({ name: "Bash", input: { command: `touch '${file}'`, description: "Makes a file" } }),
  writeCall: ({ file, text }) => ({ name: "Write", input: { file_path: file, content: text } }),
  mcpCall: ({ server, tool, input }) => ({ name: `mcp__${server}__${tool}`, input }),
};
