/** Built-in providers: their API, address, and the environment variables that configure them. */
import type { ProviderKind } from "../domain/provider.ts";

export interface KnownProvider {
  readonly kind: ProviderKind;
  readonly url: string;
  /** The variables that may hold its key, the preferred one first. */
  readonly keys: readonly string[];
  /** The variables that may override its address. */
  readonly urls: readonly string[];
  /** A server on this machine. It accepts a key but does not require one. */
  readonly local?: true;
}

const HOSTED: Readonly<Record<string, readonly [url: string, key: string]>> = {
  cerebras: ["https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"],
  deepseek: ["https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"],
  fireworks: ["https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"],
  groq: ["https://api.groq.com/openai/v1", "GROQ_API_KEY"],
  huggingface: ["https://router.huggingface.co/v1", "HF_TOKEN"],
  mistral: ["https://api.mistral.ai/v1", "MISTRAL_API_KEY"],
  moonshot: ["https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"],
  openrouter: ["https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"],
  together: ["https://api.together.xyz/v1", "TOGETHER_API_KEY"],
  xai: ["https://api.x.ai/v1", "XAI_API_KEY"],
  zai: ["https://api.z.ai/api/paas/v4", "ZAI_API_KEY"],
};

/** Local servers with their default ports. */
const LOCAL: Readonly<Record<string, number>> = { ollama: 11_434, "llama.cpp": 8080, lmstudio: 1234, vllm: 8000 };

export const KNOWN_PROVIDERS: ReadonlyMap<string, KnownProvider> = new Map<string, KnownProvider>([
  [
    "anthropic",
    {
      kind: "anthropic",
      url: "https://api.anthropic.com",
      keys: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"],
      urls: ["ANTHROPIC_BASE_URL"],
    },
  ],
  ["openai", { kind: "openai", url: "https://api.openai.com/v1", keys: ["OPENAI_API_KEY"], urls: ["OPENAI_BASE_URL"] }],
  [
    "google",
    {
      kind: "google",
      url: "https://generativelanguage.googleapis.com",
      keys: ["GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GOOGLE_API_KEY"],
      urls: ["GOOGLE_GEMINI_BASE_URL", "GOOGLE_GENERATIVE_AI_BASE_URL"],
    },
  ],
  ...Object.entries(HOSTED).map(([name, [url, key]]): [string, KnownProvider] => {
    return [name, { kind: "openai-compatible", url, keys: [key], urls: [environmentName(name, "BASE_URL")] }];
  }),
  ...Object.entries(LOCAL).map(([name, port]): [string, KnownProvider] => [
    name,
    {
      kind: "openai-compatible",
      url: `http://127.0.0.1:${port}/v1`,
      keys: [environmentName(name, "API_KEY")],
      urls: [environmentName(name, "BASE_URL")],
      local: true,
    },
  ]),
]);

function environmentName(name: string, ending: string): string {
  return `${name.toUpperCase().replaceAll(/\W/g, "_")}_${ending}`;
}
