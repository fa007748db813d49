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
  "gemini_api_key",
])("a command does not get %s", (name) => {
  expect(withoutSecrets({ [name]: "secret" })).toEqual({});
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
])("a command keeps %s", (name) => {
  expect(withoutSecrets({ [name]: "x" })).toEqual({ [name]: "x" });
});
