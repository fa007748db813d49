import { expect, it } from "vitest";
import { childEnvironment } from "./child-environment.ts";

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
  "CODEX_ACCESS_TOKEN",
  "LITELLM_MASTER_KEY",
  "WATSONX_APIKEY",
  "AI_GATEWAY_KEY",
  "DATABRICKS_TOKEN",
  "GITHUB_MODELS_TOKEN",
  "OPENAIKEY",
  "openaiApiKey",
  "SAMBANOVA_SECRET",
  "VERTEX_CREDENTIALS",
  "AWS_SECRET_ACCESS_KEY",
  "OPENAI_API_KEYS",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "GRADLE_OPENAI_KEY",
  "SOME_PROVIDER_NOBODY_KNOWS_TOKEN",
  "OPENCODE_AUTH_CONTENT",
  "CODEX_AUTH_JSON",
  "CLAUDE_CODE_OAUTH",
  "MISTRAL_PWD",
  "OPENAIAPIKEYPROD",
])("withholds %s from a command", (name) => {
  expect(childEnvironment({ [name]: "secret" })).toEqual({});
});

it("withholds the variables of a telemetry collector from every child, unless the user passes them", () => {
  const env = {
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=secret",
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: "authorization=secret",
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://me:secret@collector.example/v1/traces",
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: "https://collector.example/v1/metrics?api-key=secret",
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example",
  };
  const open = { OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example" };
  for (const needs of ["none", "any", "claude"] as const) expect(childEnvironment(env, { needs })).toEqual(open);
  const pass = ["OTEL_EXPORTER_OTLP_HEADERS"];
  expect(childEnvironment(env, { pass })).toEqual({ ...open, OTEL_EXPORTER_OTLP_HEADERS: "authorization=secret" });
});

it("withholds variables that the user names as keys from a command", () => {
  expect(childEnvironment({ MY_GATEWAY: "secret", PATH: "/bin" }, { keys: ["MY_GATEWAY"] })).toEqual({ PATH: "/bin" });
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
  "GH_TOKEN",
  "GIT_CONFIG_KEY_0",
  "NODE_AUTH_TOKEN",
  "CARGO_REGISTRIES_MINE_TOKEN",
  "PGPASSWORD",
  "MAX_THINKING_TOKENS",
  "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
  "PWD",
  "OLDPWD",
  "DOCKER_AUTH_CONFIG",
  "SSH_ASKPASS",
  "XAUTHORITY",
  "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
])("passes %s to a command", (name) => {
  expect(childEnvironment({ [name]: "x" })).toEqual({ [name]: "x" });
});

it.each([
  "sk-ant-api03-abcdefghijklmnop",
  "AIzaSyA1234567890abcdefghijk",
  "gsk_abcdefghijklmnopqrst",
  "dapi0123456789abcdef0123456789abcdef",
  '{"api_key":"sk-ant-api03-abcdefghijklmnop"}',
  "Authorization: Bearer sk-ant-api03-abcdefghijklmnop",
  "https://me:sk-ant-api03-abcdefghijklmnop@gateway.invalid/v1",
  '{"type":"service_account","private_key":"-----BEGIN PRIVATE KEY-----\\nMII"}',
])("withholds %s from a command, regardless of the variable's name", (value) => {
  expect(childEnvironment({ NOTHING_SPECIAL: value })).toEqual({});
});

const ALL = {
  ANTHROPIC_API_KEY: "a",
  AWS_SESSION_TOKEN: "b",
  OPENAI_API_KEY: "c",
  CODEX_ACCESS_TOKEN: "d",
  GEMINI_API_KEY: "e",
  DATABRICKS_TOKEN: "f",
  ROOKERY_TOKEN: "g",
  ROOKERY_MCP_0_TOKEN: "h",
  ROOKERY_MCP_BRIDGE: "i",
  rookery_token: "j",
  ROOKERY_TOKEN_OLD: "k",
  "ROOKERY-SERVER-TOKENS": "l",
};

it.each([
  ["claude", ["ANTHROPIC_API_KEY", "AWS_SESSION_TOKEN"]],
  ["codex", ["OPENAI_API_KEY", "CODEX_ACCESS_TOKEN"]],
  ["gemini", ["GEMINI_API_KEY"]],
  ["none", []],
  ["any", Object.keys(ALL).filter((name) => !/^rookery/i.test(name))],
] as const)("passes the credentials of %s to a child that needs them, and never Rookery's own", (needs, names) => {
  expect(Object.keys(childEnvironment(ALL, { needs }))).toEqual(names);
});

it("passes a variable that the user names, unless it is a secret of Rookery", () => {
  const pass = ["DATABRICKS_TOKEN", "ROOKERY_TOKEN"];
  expect(childEnvironment(ALL, { pass })).toEqual({ DATABRICKS_TOKEN: "f" });
});
