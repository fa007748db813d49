/** What the environment of a command must not have. */

type Environment = Readonly<Record<string, string | undefined>>;

/** Every provider's, known or not, by the names that providers choose. */
const ANY_PROVIDER = /_(API_KEY|AUTH_TOKEN|OAUTH_TOKEN)$/i;
/** Those that also go by other names. */
const THESE_PROVIDERS =
  /^(ANTHROPIC|OPENAI|AZURE_OPENAI|GEMINI|GOOGLE|OPENROUTER|DEEPSEEK|MISTRAL|GROQ|XAI|ZAI|MOONSHOT|TOGETHER|FIREWORKS|CEREBRAS|HF|HUGGING_?FACE|REPLICATE)_(\w+_)?(KEY|TOKEN)(_\w+)?$/i;
const BY_NAME = /^(ANTHROPIC_CUSTOM_HEADERS|AWS_BEARER_TOKEN_BEDROCK)$/i;

/** `keys` are the variables that the user says hold one. */
export function isSecret(name: string, keys: readonly string[] = []): boolean {
  return keys.includes(name) || ANY_PROVIDER.test(name) || THESE_PROVIDERS.test(name) || BY_NAME.test(name);
}

/** A command that a model wrote has no business with the keys that pay for it. */
export function withoutSecrets(env: Environment, keys: readonly string[] = []): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isSecret(name, keys)));
}
