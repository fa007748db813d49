// Codex, driven by its backend over the app-server.
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { builtEnvironment } from "../../dist/testing/index.js";
import { codex as adapted } from "../agents/codex.mjs";
import { program } from "../agents/program.mjs";

export const codex = {
  name: "codex",
  version: "0.166.0",
  backend: "codex",

  async prepare({ home, modelUrl }) {
    const config = join(home, ".codex");
    await mkdir(config, { recursive: true });
    await writeFile(join(config, "config.toml"), configToml(modelUrl));
    const command = [process.execPath, program("@openai/codex/bin/codex.js")];
    return {
      toml: ['backend = "codex"', `command = ${JSON.stringify(command)}`, 'model = "fake-model"'].join("\n"),
      env: builtEnvironment({ home, extra: { CODEX_HOME: config, FAKE_CREDENTIAL: "fake" } }),
    };
  },

  permissionCall: ({ file }) => ({ name: "exec_command", input: { cmd: `touch '${file}'` } }),
  writeCall: adapted.writeCall,
  mcpCall: adapted.mcpCall,
  questionCall: ({ question, options }) => ({
    name: "request_user_input",
    input: {
      questions: [
        {
          id: "answer",
          header: "Question",
          question,
          options: options.map((label) => ({ label, description: label })),
        },
      ],
    },
  }),
  planCall: ({ steps }) => ({
    name: "update_plan",
    input: { plan: steps.map((step, at) => ({ step, status: at === 0 ? "in_progress" : "pending" })) },
  }),
};

/** This version disables plans, and questions outside of plan mode, by default. */
function configToml(modelUrl) {
  return `model_provider = "fake"
check_for_update_on_startup = false

[features]
default_mode_request_user_input = true

[tools.update_plan]
enabled = true

[model_providers.fake]
name = "Fake"
base_url = "${modelUrl}/v1"
wire_api = "responses"
env_key = "FAKE_CREDENTIAL"

# The sandbox would leave an empty .git in /tmp.
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true

[analytics]
enabled = false
`;
}
