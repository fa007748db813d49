/** Decides by name and value whether a variable of the environment holds a credential, and whose. Pure; no I/O. */

/**
 * Rookery's own: the token of a server, and what it hands to a program that it drives. `ROOKERY_MCP_BRIDGE` and
 * `ROOKERY_MCP_n_TOKEN` are set for one child on purpose; whoever inherits them is not that child.
 */
const ROOKERY_SECRET = /^ROOKERY_(\w+_)?(TOKEN|KEY|SECRET|PASSWORD)$|^ROOKERY_MCP_BRIDGE$/i;

/** A part of a name (`OPENAI`, `API`, `KEY`) that says "credential" wherever it stands; `APIKEY` and `XAIKEY2` end in one. */
const CREDENTIAL_PART = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|CRED|JWT|BEARER)S?\d*$/;
/** Parts that say it at the end of a name. */
const CREDENTIAL_END = /^(AUTH|AUTHORIZATION|PASS|PAT|COOKIES?|HEADERS?)$/;

/** Ends of names that hold a place, a number or a kind: `API_KEY_FILE`, `TOKEN_URL`, `API_KEY_HELPER_TTL_MS`. */
const NOT_A_SECRET_END =
  /^(FILE|PATH|DIR|DIRECTORY|FOLDER|URL|URI|ENDPOINT|HOST|PORT|SOCK|TTL|MS|SECS?|SECONDS|TIMEOUT|LIMIT|MAX|MIN|SIZE|LENGTH|COUNT|NAME|TYPE|ALGORITHM)$/;
/** `MAX_THINKING_TOKENS` is a number of tokens. */
const AMOUNT_OF_TOKENS = /(^|_)(MAX|MIN|LIMIT|BUDGET|NUM|OUTPUT|THINKING|CONTEXT)_(\w+_)?TOKENS$/;

/**
 * Credentials that builds use: code hosts, package registries, build caches, and databases of tests. Every other
 * credential may be a model provider's, whose names nobody can list.
 */
const BUILD_CREDENTIALS: readonly RegExp[] = [
  /^GIT_/, // `GIT_CONFIG_KEY_0` among them: git ends if it is missing
  /^(GITHUB|GH|GITLAB|BITBUCKET|GITEA|FORGEJO)(_(ENTERPRISE|PRIVATE|ACCESS|APP|API))*_(TOKEN|PAT|PASSWORD)$/,
  /^(CI_JOB_TOKEN|CI_REGISTRY_PASSWORD|CI_DEPLOY_PASSWORD|SYSTEM_ACCESSTOKEN|AZURE_DEVOPS_EXT_PAT)$/,
  /^HOMEBREW_GITHUB_API_TOKEN$/,
  /^(NPM|NODE|YARN|YARN_NPM|JSR)(_AUTH)?_TOKEN$/,
  /^NPM_CONFIG_/,
  /^CARGO_REGISTR(Y|IES_\w+)_TOKEN$/,
  /^(PYPI_(API_)?TOKEN|TWINE_PASSWORD|UV_PUBLISH_TOKEN|UV_INDEX_\w+_PASSWORD)$/,
  /^POETRY_(HTTP_BASIC_\w+_PASSWORD|PYPI_TOKEN_\w+)$/,
  /^(BUNDLE_\w+|GEM_HOST_API_KEY|COMPOSER_AUTH|NUGET_(API_KEY|TOKEN)|HEX_API_KEY)$/,
  /^(ARTIFACTORY|JFROG|NEXUS|MAVEN|GRADLE|ORG_GRADLE_PROJECT)_\w+$/,
  /^(DOCKER|DOCKERHUB)_(\w+_)?(PASSWORD|TOKEN|PAT)$/,
  /^(TURBO_TOKEN|TURBO_API_TOKEN|NX_CLOUD_ACCESS_TOKEN)$/,
  /^(PGPASSWORD|MYSQL_PWD)$/,
  /^(DB|DATABASE|PG|POSTGRES|POSTGRESQL|MYSQL|MARIADB|MSSQL|MONGO|MONGODB|REDIS|RABBITMQ)(_\w+)?_(PASS|PASSWORD)$/,
];

/** No name with one of these is a build's, whatever it begins with: `GITHUB_MODELS_TOKEN`, `GRADLE_OPENAI_KEY`. */
const MODEL_PART =
  /^(AI|GENAI|LLM|LLMS|GPT|MODEL|MODELS|COPILOT|DUO|INFERENCE|ANTHROPIC|CLAUDE|OPENAI|CODEX|GEMINI|VERTEX|BEDROCK|MISTRAL|GROQ|XAI|DEEPSEEK|OPENROUTER|HF|HUGGINGFACE|LITELLM|WATSONX)\d*$/;

/** How the keys of model providers begin, whatever variable holds them. */
const MODEL_KEY_VALUE =
  /^(Bearer )?(sk-[A-Za-z0-9_-]{16,}|AIza[\w-]{20,}|gsk_\w{16,}|hf_\w{16,}|xai-\w{16,}|nvapi-\S{16,}|pplx-\w{16,}|r8_\w{16,}|fw_\w{16,}|csk-\w{16,})/;

/** Is it one that no child may have, whatever is configured? */
export function isRookerySecret(name: string): boolean {
  return ROOKERY_SECRET.test(name);
}

/** Is it one that a child gets only if it needs it? Credentials of builds are not. */
export function isWithheldCredential(name: string, value = ""): boolean {
  if (MODEL_KEY_VALUE.test(value)) return true;
  const upper = name.replaceAll(/([a-z\d])([A-Z])/g, "$1_$2").toUpperCase();
  const parts = upper.split(/[^A-Z\d]+/).filter((part) => part !== "");
  if (!namesCredential(upper, parts)) return false;
  return parts.some((part) => MODEL_PART.test(part)) || !BUILD_CREDENTIALS.some((known) => known.test(upper));
}

function namesCredential(upper: string, parts: readonly string[]): boolean {
  const last = parts.at(-1) ?? "";
  if (NOT_A_SECRET_END.test(last) || AMOUNT_OF_TOKENS.test(upper)) return false;
  return CREDENTIAL_END.test(last) || parts.some((part) => CREDENTIAL_PART.test(part));
}
