import { expect, it } from "vitest";
import { withoutSecrets } from "./secrets.ts";

it.each([
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "CLAUDE_CODE_OAUTH_TOKEN",
  "CEREBRAS_API_KEY",
  "MY_OWN_GATEWAY_API_KEY",
  "OPENAI_KEY",
  "OPENAI_ADMIN_KEY",
  "XAI_TOKEN",
  "AZURE_OPENAI_KEY",
  "AZURE_OPENAI_AD_TOKEN",
  "AWS_BEARER_TOKEN_BEDROCK",
  "HF_TOKEN",
  "HUGGING_FACE_HUB_TOKEN",
  "REPLICATE_API_TOKEN",
  "OPENAI_API_KEY_2",
  "ANTHROPIC_CUSTOM_HEADERS",
  "gemini_api_key",
])("a command does not get %s", (name) => {
  expect(withoutSecrets({ [name]: "secret" })).toEqual({});
});

it("a command does not get what the user says holds a key", () => {
  expect(withoutSecrets({ MY_GATEWAY: "secret", PATH: "/bin" }, ["MY_GATEWAY"])).toEqual({ PATH: "/bin" });
});

it.each([
  "PATH",
  "HOME",
  "API_KEY_FILE",
  "NPM_TOKEN",
  "SSH_AUTH_SOCK",
  "KEYBOARD",
  "ANTHROPIC_BASE_URL",
  "ROOKERY_OWNER",
  "AWS_REGION",
  "GITHUB_TOKEN",
  "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
])("a command keeps %s", (name) => {
  expect(withoutSecrets({ [name]: "x" })).toEqual({ [name]: "x" });
});
