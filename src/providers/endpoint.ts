/** Where the model of a name is, and what opens it: from what is known, what is configured and what the environment has. */
import type { EnvironmentVariables } from "../stdx/index.ts";
import { RookeryError } from "../domain/errors.ts";
import type { Effort, ProviderKind } from "../domain/provider.ts";
import { didYouMean } from "../stdx/nearest.ts";
import { trimEndOf } from "../stdx/trim.ts";
import { KNOWN_PROVIDERS } from "./known.ts";

/** What the configuration says of a provider: of a new one, or over what is known of one. */
export interface ConfiguredProvider {
  readonly kind?: ProviderKind | undefined;
  readonly baseUrl?: string | undefined;
  /** The name of the variable that holds its key. */
  readonly keyEnv?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** In tokens. */
  readonly context?: number | undefined;
  readonly images?: boolean | undefined;
}

export interface ProviderOptions {
  readonly env: EnvironmentVariables;
  /** Over what the environment and the configuration say. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly providers?: ReadonlyMap<string, ConfiguredProvider> | undefined;
  /** What the model chooses where it is not said. */
  readonly effort?: Effort | undefined;
  /** In tokens, over what is known of the model. */
  readonly context?: number | undefined;
  /** Milliseconds since 1970, for limits that end at a time. */
  readonly now?: (() => number) | undefined;
}

export interface Endpoint {
  readonly provider: string;
  readonly model: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly key: string | undefined;
  /** The key is one for a bearer, not for the header that the API has for keys. */
  readonly bearer: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly images: boolean | undefined;
  readonly context: number | undefined;
  /** What to correct where the key is refused. */
  readonly keyVariable: string;
  /** What to correct where nobody answers. */
  readonly urlVariable: string;
}

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

/** Throws `model_invalid`. */
export function parseModelName(name: string): ModelName {
  const slash = name.indexOf("/");
  const [provider, model] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
  if (provider !== "" && model !== "") return { provider, model };
  throw new RookeryError("model_invalid", `"${name}" names no model: write provider/model, with one of ${listed()}`);
}

/** Throws `model_invalid`, `provider_unknown` or `provider_unconfigured`. */
export function findEndpoint(name: string, options: ProviderOptions): Endpoint {
  const { provider, model } = parseModelName(name);
  const { known, configured } = describe(name, options);
  const { key, variable, wanted } = keyFor(provider, options);
  if (key === undefined && wanted !== undefined) throw unconfigured(provider, wanted);
  refuseUnsendable(provider, variable ?? "the key", key);
  for (const [header, value] of Object.entries(configured?.headers ?? {})) {
    refuseUnsendable(provider, `the header ${header} under [providers.${provider}]`, value);
  }
  const kind = configured?.kind ?? known?.kind ?? "openai-compatible";
  return {
    provider,
    model,
    kind,
    baseUrl: addressOf(provider, kind, options),
    key,
    bearer: kind === "anthropic" && options.apiKey === undefined && /_TOKEN$/.test(variable ?? ""),
    headers: configured?.headers ?? {},
    images: configured?.images,
    context: options.context ?? configured?.context,
    keyVariable: variable ?? wanted ?? `key_env under [providers.${provider}]`,
    urlVariable: known?.urls[0] ?? `base_url under [providers.${provider}]`,
  };
}

/** What to do before a model can be used, in words, without any key. Undefined: nothing. */
export function missingFor(name: string, options: ProviderOptions): string | undefined {
  try {
    const { key, wanted } = keyFor(parseModelName(name).provider, options);
    if (key === undefined && wanted !== undefined) return `${wanted} is not set: export ${wanted}=…`;
    findEndpoint(name, options);
    return undefined;
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    return error.message;
  }
}

/** The variables that hold keys of providers, beside those whose names say so. */
export function keyVariables(providers: ReadonlyMap<string, ConfiguredProvider> = new Map()): string[] {
  return Array.from(providers.values()).flatMap(({ keyEnv }) => keyEnv ?? []);
}

function describe(name: string, { providers = new Map<string, ConfiguredProvider>() }: ProviderOptions) {
  const { provider } = parseModelName(name);
  const known = KNOWN_PROVIDERS.get(provider);
  const configured = providers.get(provider);
  if (known !== undefined || configured !== undefined) return { known, configured };
  const guess = didYouMean(provider, [...KNOWN_PROVIDERS.keys(), ...providers.keys()]);
  throw new RookeryError(
    "provider_unknown",
    `there is no provider "${provider}"${guess} for the model "${name}": use ${listed()}, or describe it under [providers.${provider}] in rookery.toml`,
  );
}

/** `variable` holds the key; `wanted` should, where it cannot be done without. */
function keyFor(provider: string, { env, apiKey, providers }: ProviderOptions) {
  const known = KNOWN_PROVIDERS.get(provider);
  const own = providers?.get(provider)?.keyEnv;
  const variable = (own === undefined ? known?.keys : [own])?.find((name) => (env[name] ?? "") !== "");
  const wanted = own ?? (known?.local === true ? undefined : known?.keys[0]);
  const key = apiKey ?? (variable === undefined ? undefined : env[variable]);
  return { key: key?.trim(), variable, wanted }; // a file that it was read from ends with a line break
}

/** What fetch refuses as a header it refuses with the whole of it in words. */
function refuseUnsendable(provider: string, where: string, value = ""): void {
  if (!/[^\t\x20-\x7e]/.test(value)) return;
  const what = "has a line break in it, or a character that no header takes";
  throw new RookeryError("provider_unconfigured", `${where} cannot be sent to ${provider}: it ${what}; set it anew`);
}

function unconfigured(provider: string, variable: string): RookeryError {
  const without = provider === "anthropic" ? ', or see it work without one: "rookery demo"' : "";
  return new RookeryError(
    "provider_unconfigured",
    `no key for ${LABELS[provider] ?? provider}: set ${variable} and try again${without}`,
  );
}

const LABELS: Readonly<Record<string, string>> = { anthropic: "Anthropic", openai: "OpenAI", google: "Google" };

function addressOf(provider: string, kind: ProviderKind, { env, baseUrl, providers }: ProviderOptions): string {
  const known = KNOWN_PROVIDERS.get(provider);
  const configured = providers?.get(provider)?.baseUrl;
  const variable = known?.urls.find((name) => (env[name] ?? "") !== "");
  const url = baseUrl ?? configured ?? (variable === undefined ? known?.url : env[variable]);
  if (url === undefined) {
    throw new RookeryError(
      "provider_unconfigured",
      `nobody says where ${provider} is: set base_url under [providers.${provider}] in rookery.toml`,
    );
  }
  const where = baseUrl === undefined && configured === undefined ? (variable ?? "") : "the base URL";
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new RookeryError("provider_unconfigured", `${where} is not a URL: ${JSON.stringify(url)}`);
  }
  const { username, password, search, hash } = new URL(url);
  if (username + password !== "") {
    const fix = `give them as a header, under [providers.${provider}.headers] in rookery.toml`;
    throw new RookeryError("provider_unconfigured", `${where} has a name or a password in it: ${fix}`);
  }
  if (search + hash !== "") {
    const fix = "what is asked for is put behind its path, so leave that out";
    throw new RookeryError("provider_unconfigured", `${where} has something behind its path, a ? or a #: ${fix}`);
  }
  return versioned(trimEndOf(url, "/"), kind);
}

/** Some programs take the URL with the version of the API and some without it: both are understood. */
function versioned(url: string, kind: ProviderKind): string {
  if (/\/v\d\w*$/.test(url)) return url;
  switch (kind) {
    case "anthropic":
      return `${url}/v1`;
    case "google":
      return `${url}/v1beta`;
    case "openai":
    case "openai-compatible": // a gateway may have them at a path without a version
      return new URL(url).pathname === "/" ? `${url}/v1` : url;
  }
}

function listed(): string {
  return Array.from(KNOWN_PROVIDERS.keys(), (name) => `${name}/…`).join(", ");
}
