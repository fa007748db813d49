// Codex behind its ACP adapter.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { program } from "./program.mjs";

export const codex = {
  name: "codex-acp",
  version: "2.6.0",
  protocolVersions: [1, 2],

  async prepare({ home, modelUrl }) {
    const config = join(home, ".codex");
    await mkdir(config, { recursive: true });
    await writeFile(join(config, "config.toml"), configToml(modelUrl));
    return {
      command: [process.execPath, program("@agentclientprotocol/codex-acp/dist/index.js")],
      env: builtEnvironment({
        home,
        extra: { CODEX_HOME: config, FAKE_KEY: "fake", NO_BROWSER: "1", INITIAL_AGENT_MODE: "workspace-write" },
      }),
    };
  },

  // It asks only for what is to leave its sandbox, and a sandbox is there on every system it runs on.
  permissionCall: ({ file }) => ({
    name: "exec_command",
    input: { cmd: `touch '${file}'`, sandbox_permissions: "require_escalated", justification: "May I make the file?" },
  }),
  // The command that it takes for its own tool; with an unknown model there is no other way to edit.
  writeCall: ({ file, text }) => ({ name: "exec_command", input: { cmd: addFile(file, text) } }),
  // An MCP server's tools are offered as one group, and a call that does not name the group is not found.
  mcpCall: ({ server, tool, input }) => ({ name: tool, namespace: `mcp__${server}`, input }),
};

function configToml(modelUrl) {
  return `model = "fake-model"
model_provider = "fake"
check_for_update_on_startup = false

[model_providers.fake]
name = "Fake"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"

# Its sandbox would leave an empty .git in /tmp.
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true

[analytics]
enabled = false
`;
}

function addFile(file, text) {
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => `+${line}`);
  return ["apply_patch <<'PATCH'", "*** Begin Patch", `*** Add File: ${file}`, ...lines, "*** End Patch", "PATCH"].join(
    "\n",
  );
}
