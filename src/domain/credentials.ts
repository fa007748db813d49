/** Decides by name and value whether an environment variable contains a credential, and whose. Pure; no I/O. */

/**
 * Rookery's own secrets: the token of a server, the database of the log, the storage of blobs, and the variables that
 * it sets for one driven program. `ROOKERY_MCP_BRIDGE` and `ROOKERY_MCP_n_TOKEN` are set for one child on purpose, and
 * must not be inherited by another. In addition, every variable with this prefix whose name suggests a credential.
 */
const ROOKERY_PREFIX = "ROOKERY";
const ROOKERY_BRIDGE = "ROOKERY_MCP_BRIDGE";
/** May contain a password. */
const ROOKERY_STORE_URLS = ["ROOKERY_STORE_URL", "ROOKERY_STORE_LISTEN_URL"];
/** A Rookery in a child could not use it, because no child gets the keys. */
const ROOKERY_BLOBS_URL = "ROOKERY_BLOBS_URL";

/**
 * A part of a name that marks a credential anywhere in the name, such as `KEY` in `OPENAI_API_KEY`. `APIKEY` and
 * `XAIKEY2` end in one.
 */
const CREDENTIAL_PART = /(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|CRED|JWT|BEARER)S?\d*$/;
/** The same in a part without separators: `OPENAIAPIKEYPROD`. */
const CREDENTIAL_WORD = /(API|ACCESS|AUTH|SECRET)(KEY|TOKEN)/;
/** Parts that mark a credential at the end of a name. `PWD` alone is the working directory. */
const CREDENTIAL_END = /^(AUTH|OAUTH|AUTHORIZATION|PASS|PWD|PW|PAT|COOKIES?|HEADERS?)$/;
/**
 * Parts that may follow a credential part in variables that contain a whole file: `CODEX_AUTH_JSON`,
 * `OPENCODE_AUTH_CONTENT`.
 */
const CONTENT_END = /^(JSON|YAML|TOML|CONTENTS?|CONFIG|DATA|VALUE|INFO|BASE64|B64)$/;

/** Ends of names that contain a location, a number or a kind: `API_KEY_FILE`, `TOKEN_URL`, `API_KEY_HELPER_TTL_MS`. */
const NOT_A_SECRET_END =
  /^(FILE|PATH|DIR|DIRECTORY|FOLDER|URL|URI|ENDPOINT|HOST|PORT|SOCK|TTL|MS|SECS?|SECONDS|TIMEOUT|LIMIT|MAX|MIN|SIZE|LENGTH|COUNT|NAME|TYPE|ALGORITHM)$/;
/** `MAX_THINKING_TOKENS` is a number of tokens. */
const AMOUNT = /^(MAX|MIN|LIMIT|BUDGET|NUM|OUTPUT|THINKING|CONTEXT)$/;

/**
 * Credentials that builds use: code hosts, package registries, build caches and test databases. Every other
 * credential may belong to a model provider, because their names cannot be listed.
 */
const BUILD_CREDENTIALS: readonly RegExp[] = [
  /^GIT_/, // includes `GIT_CONFIG_KEY_0`: git fails if it is missing
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
  /^(DOCKER|DOCKERHUB)_(\w+_)?(PASSWORD|TOKEN|PAT)$|^DOCKER_AUTH_CONFIG$/,
  /^(TURBO_TOKEN|TURBO_API_TOKEN|NX_CLOUD_ACCESS_TOKEN)$/,
  /^(PGPASSWORD|MYSQL_PWD)$/,
  /^(DB|DATABASE|PG|POSTGRES|POSTGRESQL|MYSQL|MARIADB|MSSQL|MONGO|MONGODB|REDIS|RABBITMQ)(_\w+)?_(PASS|PASSWORD)$/,
];

/** A name with one of these parts is never a build credential: `GITHUB_MODELS_TOKEN`, `GRADLE_OPENAI_KEY`. */
const MODEL_PART =
  /^(AI|GENAI|LLM|LLMS|GPT|MODEL|MODELS|COPILOT|DUO|INFERENCE|ANTHROPIC|CLAUDE|OPENAI|CODEX|GEMINI|VERTEX|BEDROCK|MISTRAL|GROQ|XAI|DEEPSEEK|OPENROUTER|HF|HUGGINGFACE|LITELLM|WATSONX)\d*$/;

/** Prefixes of model providers' keys, in any variable. */
const MODEL_KEY_VALUE =
  /^(hf_\w{16,}|r8_\w{16,}|fw_\w{16,}|csk-\w{16,}|tgp_v1_\w{16,}|dapi[\da-f]{32}|ABSK[\w+/=]{20,}|bedrock-api-key-\S{16,})/;
/** Unmistakable keys are also found inside a value, such as JSON, a header or a URL. */
const MODEL_KEY_WITHIN =
  /(^|[\s"'=:,;@])(sk-[A-Za-z0-9_-]{16,}|AIza[\w-]{20,}|gsk_\w{16,}|xai-\w{16,}|nvapi-[\w-]{16,}|pplx-\w{16,})/;
/** A key file, for example of a service account. */
const PRIVATE_KEY_WITHIN = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;

/** True if no child may get the variable, regardless of the configuration. */
export function isRookerySecret(name: string): boolean {
  const parts = splitName(name);
  if (parts[0] !== ROOKERY_PREFIX) return false;
  const locations = [ROOKERY_BRIDGE, ...ROOKERY_STORE_URLS, ROOKERY_BLOBS_URL];
  return locations.includes(parts.join("_")) || namesCredential(parts);
}

/** Headers for a collector of OpenTelemetry, and its address if that has a password or a query. Only Rookery sends to it. */
const TELEMETRY_HEADERS = /^OTEL_EXPORTER_OTLP_(\w+_)?HEADERS$/i;
const TELEMETRY_ENDPOINT = /^OTEL_EXPORTER_OTLP_(\w+_)?ENDPOINT$/i;

/** True if no child gets the variable unless the user passes it by name, because no agent needs it. */
export function isTelemetrySecret(name: string, value = ""): boolean {
  return (
    TELEMETRY_HEADERS.test(name) || (TELEMETRY_ENDPOINT.test(name) && /^\s*\w+:\/\/(?:[^/]*@|[^?]*\?)/.test(value))
  );
}

/** True if the name or the value of a variable suggests a credential, of a model provider or of anything else. */
export function isCredential(name: string, value = ""): boolean {
  return isWithheldCredential(name, value) || namesCredential(splitName(name));
}

/** True if a child gets the variable only if it needs it. False for credentials of builds. */
export function isWithheldCredential(name: string, value = ""): boolean {
  if ([MODEL_KEY_VALUE, MODEL_KEY_WITHIN, PRIVATE_KEY_WITHIN].some((known) => known.test(value))) return true;
  const parts = splitName(name);
  if (!namesCredential(parts)) return false;
  const upper = spacedName(name);
  return parts.some((part) => MODEL_PART.test(part)) || !BUILD_CREDENTIALS.some((known) => known.test(upper));
}

/** Converts to upper case, and adds separators to camel case. */
function spacedName(name: string): string {
  return name.replaceAll(/([a-z\d])([A-Z])/g, "$1_$2").toUpperCase();
}

function splitName(name: string): readonly string[] {
  return spacedName(name)
    .split(/[^A-Z\d]+/)
    .filter((part) => part !== "");
}

function namesCredential(parts: readonly string[]): boolean {
  const last = parts.at(-1) ?? "";
  if (NOT_A_SECRET_END.test(last)) return false;
  if (last === "TOKENS" && parts.some((part) => AMOUNT.test(part))) return false;
  const end = parts.findLastIndex((part) => !CONTENT_END.test(part));
  const isWorkingDirectory = parts.length === 1 && last === "PWD";
  if (!isWorkingDirectory && CREDENTIAL_END.test(parts[end] ?? "")) return true;
  return parts.some((part) => CREDENTIAL_PART.test(part) || CREDENTIAL_WORD.test(part));
}
