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

  // Codex asks only before it leaves its sandbox, and every supported system has a sandbox.
  permissionCall: ({ file }) => ({
    name: "exec_command",
    input: { cmd: `touch '${file}'`, sandbox_permissions: "require_escalated", justification: "May I make the file?" },
  }),
  // Codex treats this command as its own tool. With an unknown model it has no other way to edit files.
  writeCall: ({ file, text }) => ({ name: "exec_command", input: { cmd: addFile(file, text) } }),
  // The tools of an MCP server form a group, and a call has to name the group.
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

# The sandbox would leave an empty .git in /tmp.
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
