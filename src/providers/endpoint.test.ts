import { describe, expect, it } from "vitest";
import { findEndpoint, findMissingSetup, type ConfiguredProvider } from "./endpoint.ts";

const providers = new Map<string, ConfiguredProvider>([
  ["mine", { baseUrl: "http://127.0.0.1:1/openai", keyEnv: "MY_KEY", headers: { "x-team": "a" }, images: false }],
  ["open", { kind: "anthropic", baseUrl: "http://127.0.0.1:2" }],
  ["nowhere", {}],
  ["odd", { baseUrl: "http://127.0.0.1:2", headers: { "x-team": "secret\nsecret" } }],
  ["groq", { keyEnv: "OTHER_KEY" }],
]);

describe("findEndpoint", () => {
  it.each([
    ["anthropic/claude-sonnet-5", { ANTHROPIC_API_KEY: "k" }, "https://api.anthropic.com/v1", "anthropic"],
    ["openai/gpt-6.1-sol", { OPENAI_API_KEY: "k" }, "https://api.openai.com/v1", "openai"],
    ["google/g", { GEMINI_API_KEY: "k" }, "https://generativelanguage.googleapis.com/v1beta", "google"],
    ["google/g", { GOOGLE_GENERATIVE_AI_API_KEY: "k" }, "https://generativelanguage.googleapis.com/v1beta", "google"],
    ["openrouter/a/b", { OPENROUTER_API_KEY: "k" }, "https://openrouter.ai/api/v1", "openai-compatible"],
    ["groq/a", { OTHER_KEY: "k" }, "https://api.groq.com/openai/v1", "openai-compatible"],
    ["mine/m", { MY_KEY: "k" }, "http://127.0.0.1:1/openai", "openai-compatible"],
  ])("finds %s with %o at %s", (name, env, baseUrl, kind) => {
    expect(findEndpoint(name, { env, providers })).toMatchObject({ baseUrl, kind, key: "k" });
    expect(findMissingSetup(name, { env, providers })).toBeUndefined();
  });

  it.each(["ollama/qwen3", "llama.cpp/m", "lmstudio/m", "vllm/m", "open/m"])("finds %s without a key", (name) => {
    const { baseUrl, key } = findEndpoint(name, { env: {}, providers });
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/);
    expect(key).toBeUndefined();
  });

  it("takes everything after the first slash as the model", () => {
    expect(findEndpoint("openrouter/a/b:free", { env: { OPENROUTER_API_KEY: "k" } }).model).toBe("a/b:free");
  });

  it.each([
    ["anthropic/m", "ANTHROPIC_BASE_URL", "/v1"],
    ["openai/m", "OPENAI_BASE_URL", "/v1"],
    ["google/m", "GOOGLE_GEMINI_BASE_URL", "/v1beta"],
    ["google/m", "GOOGLE_GENERATIVE_AI_BASE_URL", "/v1beta"],
    ["vllm/m", "VLLM_BASE_URL", "/v1"],
    ["llama.cpp/m", "LLAMA_CPP_BASE_URL", "/v1"],
  ])("finds %s at the address in %s, with or without the API version", (name, variable, version) => {
    for (const ending of ["", "/", version, `${version}/`]) {
      const env = { [variable]: `http://127.0.0.1:1${ending}` };
      expect(findEndpoint(name, { env, apiKey: "k" }).baseUrl).toBe(`http://127.0.0.1:1${version}`);
    }
  });

  it("prefers the caller's address to the configuration, and that to the environment", () => {
    const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:3", ANTHROPIC_API_KEY: "k" };
    const own = new Map([["anthropic", { baseUrl: "http://127.0.0.1:2" }]]);
    const at = (options: object) => findEndpoint("anthropic/m", { env, ...options }).baseUrl;
    expect(at({ providers: own, baseUrl: "http://127.0.0.1:1" })).toBe("http://127.0.0.1:1/v1");
    expect(at({ providers: own })).toBe("http://127.0.0.1:2/v1");
    expect(at({})).toBe("http://127.0.0.1:3/v1");
  });

  it("uses an auth token as bearer if there is no API key", () => {
    const env = { ANTHROPIC_AUTH_TOKEN: "t" };
    expect(findEndpoint("anthropic/m", { env })).toMatchObject({ key: "t", bearer: true });
    expect(findEndpoint("anthropic/m", { env: { ...env, ANTHROPIC_API_KEY: "k" } })).toMatchObject({
      key: "k",
      bearer: false,
    });
  });
});

it.each([
  ["claude", "model_invalid", /"claude" is not a model name: write provider\/model/],
  ["/m", "model_invalid", /is not a model name/],
  ["openai/", "model_invalid", /is not a model name/],
  ["opnai/m", "provider_unknown", /there is no provider "opnai" \(did you mean openai\?\).*\[providers\.opnai\]/],
  ["openai/m", "provider_unconfigured", /no key for OpenAI: set OPENAI_API_KEY/],
  ["mine/m", "provider_unconfigured", /no key for mine: set MY_KEY/],
  [
    "nowhere/m",
    "provider_unconfigured",
    /the address of nowhere is unknown: set base_url under \[providers\.nowhere\]/,
  ],
  ["ollama/m", "provider_unconfigured", /OLLAMA_BASE_URL is not a URL: "localhost"/],
  ["odd/m", "provider_unconfigured", /the header x-team under \[providers\.odd\] cannot be sent to odd/],
])("rejects %s with %s and a message that says what to do", (name, code, message) => {
  const words = expect.stringMatching(message) as string;
  const find = () => findEndpoint(name, { env: { OLLAMA_BASE_URL: "localhost" }, providers });
  expect(find).toThrow(expect.objectContaining({ code, message: words }) as Error);
  expect(findMissingSetup(name, { env: { OLLAMA_BASE_URL: "localhost" }, providers })).toBeDefined();
});

it.each([
  ["http://me:secret@127.0.0.1:1/v1", "k", /^VLLM_BASE_URL contains a user name or a password: send them as a header/],
  ["http://secret@127.0.0.1:1/v1", "k", /^VLLM_BASE_URL contains a user name or a password/],
  ["http://127.0.0.1:1/v1?key=secret", "k", /^VLLM_BASE_URL contains a query or a fragment/],
  ["http://127.0.0.1:1/v1", "secret\nsecret", /^VLLM_API_KEY cannot be sent to vllm: it contains a line break/],
  ["http://127.0.0.1:1/v1", "secret–secret", /^VLLM_API_KEY cannot be sent to vllm/],
])("rejects a secret that cannot be sent without printing it: %s", (url, key, message) => {
  const find = () => findEndpoint("vllm/m", { env: { VLLM_BASE_URL: url, VLLM_API_KEY: key } });
  expect(find).toThrow(message);
  expect(find).not.toThrow(/secret/);
});

it("trims the line break of a key that was read from a file", () => {
  expect(findEndpoint("vllm/m", { env: { VLLM_API_KEY: "k\n" } }).key).toBe("k");
});
