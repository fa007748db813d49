/**
 * Finds the API of a model: its address, key and options, from built-in defaults, the configuration and the
 * environment.
 */
import type { EnvironmentVariables } from "../stdx/index.ts";
import { RookeryError } from "../domain/errors.ts";
import type { Effort, ProviderKind } from "../domain/provider.ts";
import { didYouMean } from "../stdx/nearest.ts";
import { trimEndOf } from "../stdx/trim.ts";
import { DEMO_MODEL } from "./demo/model.ts";
import { KNOWN_PROVIDERS } from "./known.ts";
import type { RegisteredProviders } from "./registered/register.ts";

/** A provider in the configuration: a new one, or overrides for a known one. */
export interface ConfiguredProvider {
  readonly kind?: ProviderKind | undefined;
  readonly baseUrl?: string | undefined;
  /** The environment variable that holds its key. */
  readonly keyEnv?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Context size in tokens. */
  readonly context?: number | undefined;
  readonly images?: boolean | undefined;
}

export interface ProviderOptions {
  readonly env: EnvironmentVariables;
  /** Overrides the configuration and the environment. */
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly providers?: ReadonlyMap<string, ConfiguredProvider> | undefined;
  /** Providers that the program registered. They win over configured ones of the same name. Default: none. */
  readonly registered?: RegisteredProviders | undefined;
  /** Default: the model decides. */
  readonly effort?: Effort | undefined;
  /** Context size in tokens. Overrides the known size of the model. */
  readonly context?: number | undefined;
  /** Returns the current time in milliseconds since 1970. Default: `Date.now`. */
  readonly now?: (() => number) | undefined;
}

export interface ModelEndpoint {
  readonly provider: string;
  readonly model: string;
  readonly kind: ProviderKind;
  readonly baseUrl: string;
  readonly key: string | undefined;
  /** Whether the key is sent as a bearer token instead of in the API's key header. */
  readonly bearer: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly images: boolean | undefined;
  readonly context: number | undefined;
  /** The setting to name in the error message if the key is rejected. */
  readonly keyVariable: string;
  /** The setting to name in the error message if the server is unreachable. */
  readonly urlVariable: string;
}

export interface ModelName {
  readonly provider: string;
  readonly model: string;
}

/** Splits `provider/model`. Throws `model_invalid` if a part is missing. */
export function parseModelName(name: string): ModelName {
  const slash = name.indexOf("/");
  const [provider, model] = [name.slice(0, Math.max(0, slash)), name.slice(slash + 1)];
  if (provider !== "" && model !== "") return { provider, model };
  throw new RookeryError(
    "model_invalid",
    `"${name}" is not a model name: write provider/model, with one of ${formatProviderNames()}`,
  );
}

/** Resolves the API of a model. Throws `model_invalid`, `provider_unknown` or `provider_unconfigured`. */
export function findEndpoint(name: string, options: ProviderOptions): ModelEndpoint {
  const { provider, model } = parseModelName(name);
  const { known, configured } = lookUpProvider(name, options);
  const { key, variable, requiredVariable } = findKey(provider, options);
  if (key === undefined && requiredVariable !== undefined) throw missingKeyError(provider, requiredVariable);
  assertSendable(provider, variable ?? "the key", key);
  for (const [header, value] of Object.entries(configured?.headers ?? {})) {
    assertSendable(provider, `the header ${header} under [providers.${provider}]`, value);
  }
  const kind = configured?.kind ?? known?.kind ?? "openai-compatible";
  return {
    provider,
    model,
    kind,
    baseUrl: resolveBaseUrl(provider, kind, options),
    key,
    bearer: kind === "anthropic" && options.apiKey === undefined && /_TOKEN$/.test(variable ?? ""),
    headers: configured?.headers ?? {},
    images: configured?.images,
    context: options.context ?? configured?.context,
    keyVariable: variable ?? requiredVariable ?? `key_env under [providers.${provider}]`,
    urlVariable: known?.urls[0] ?? `base_url under [providers.${provider}]`,
  };
}

/** Returns the name of the variable that must hold a key and does not. Undefined if a key is set or none is needed. */
export function findMissingKey(name: string, options: ProviderOptions): string | undefined {
  const slash = name.indexOf("/");
  if (slash < 1) return undefined; // findMissingSetup reports the invalid name
  if (options.registered?.has(name.slice(0, slash)) === true) return undefined; // it reports what is missing itself
  const { key, requiredVariable } = findKey(name.slice(0, slash), options);
  return key === undefined ? requiredVariable : undefined;
}

/**
 * Returns what the user must do before the model can be used, without revealing a key. Undefined if nothing is missing.
 */
export function findMissingSetup(name: string, options: ProviderOptions): string | undefined {
  if (name === DEMO_MODEL) return undefined;
  try {
    if (options.registered?.has(parseModelName(name).provider) === true) return undefined;
    const variable = findMissingKey(name, options);
    if (variable !== undefined) return `${variable} is not set: export ${variable}=…`;
    findEndpoint(name, options);
    return undefined;
  } catch (error) {
    if (!(error instanceof RookeryError)) throw error;
    return error.message;
  }
}

/** The variables that hold keys of configured providers. */
export function keyVariables(providers: ReadonlyMap<string, ConfiguredProvider> = new Map()): string[] {
  return Array.from(providers.values()).flatMap(({ keyEnv }) => keyEnv ?? []);
}

function lookUpProvider(name: string, { providers = new Map<string, ConfiguredProvider>() }: ProviderOptions) {
  const { provider } = parseModelName(name);
  const known = KNOWN_PROVIDERS.get(provider);
  const configured = providers.get(provider);
  if (known !== undefined || configured !== undefined) return { known, configured };
  const guess = didYouMean(provider, [...KNOWN_PROVIDERS.keys(), ...providers.keys()]);
  throw new RookeryError(
    "provider_unknown",
    `there is no provider "${provider}"${guess} for the model "${name}": use ${formatProviderNames()}, or configure it under [providers.${provider}] in rookery.toml; a program registers one of its own with Rookery.open({ providers: […] })`,
  );
}

/** `variable` is the one that holds the key. `requiredVariable` is the one to set if the provider requires a key. */
function findKey(provider: string, { env, apiKey, providers }: ProviderOptions) {
  const known = KNOWN_PROVIDERS.get(provider);
  const own = providers?.get(provider)?.keyEnv;
  const variable = (own === undefined ? known?.keys : [own])?.find((name) => (env[name] ?? "") !== "");
  const requiredVariable = own ?? (known?.local === true ? undefined : known?.keys[0]);
  const key = apiKey ?? (variable === undefined ? undefined : env[variable]);
  return { key: key?.trim(), variable, requiredVariable }; // a key read from a file may end with a line break
}

/** Rejects values that are invalid in a header. The error of fetch would contain the whole value. */
function assertSendable(provider: string, setting: string, value = ""): void {
  if (!/[^\t\x20-\x7e]/.test(value)) return;
  const what = "contains a line break or a character that headers do not allow";
  throw new RookeryError("provider_unconfigured", `${setting} cannot be sent to ${provider}: it ${what}; set it again`);
}

function missingKeyError(provider: string, variable: string): RookeryError {
  const without = provider === "anthropic" ? ', or try Rookery without a key: "rookery demo"' : "";
  return new RookeryError(
    "provider_unconfigured",
    `no key for ${LABELS[provider] ?? provider}: set ${variable} and try again${without}`,
  );
}

const LABELS: Readonly<Record<string, string>> = { anthropic: "Anthropic", openai: "OpenAI", google: "Google" };

function resolveBaseUrl(provider: string, kind: ProviderKind, { env, baseUrl, providers }: ProviderOptions): string {
  const known = KNOWN_PROVIDERS.get(provider);
  const configured = providers?.get(provider)?.baseUrl;
  const variable = known?.urls.find((name) => (env[name] ?? "") !== "");
  const url = baseUrl ?? configured ?? (variable === undefined ? known?.url : env[variable]);
  if (url === undefined) {
    throw new RookeryError(
      "provider_unconfigured",
      `the address of ${provider} is unknown: set base_url under [providers.${provider}] in rookery.toml`,
    );
  }
  const setting = baseUrl === undefined && configured === undefined ? (variable ?? "") : "the base URL";
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new RookeryError("provider_unconfigured", `${setting} is not a URL: ${JSON.stringify(url)}`);
  }
  const { username, password, search, hash } = new URL(url);
  if (username + password !== "") {
    const fix = `send them as a header, under [providers.${provider}.headers] in rookery.toml`;
    throw new RookeryError("provider_unconfigured", `${setting} contains a user name or a password: ${fix}`);
  }
  if (search + hash !== "") {
    const fix = "remove it, because Rookery appends the path of each request";
    throw new RookeryError("provider_unconfigured", `${setting} contains a query or a fragment: ${fix}`);
  }
  return appendApiVersion(trimEndOf(url, "/"), kind);
}

/** Adds the API version if the URL has none, because programs differ in which form they expect. */
function appendApiVersion(url: string, kind: ProviderKind): string {
  if (/\/v\d\w*$/.test(url)) return url;
  switch (kind) {
    case "anthropic":
      return `${url}/v1`;
    case "google":
      return `${url}/v1beta`;
    case "openai":
    case "openai-compatible": // a gateway may serve a path without a version
      return new URL(url).pathname === "/" ? `${url}/v1` : url;
  }
}

function formatProviderNames(): string {
  return Array.from(KNOWN_PROVIDERS.keys(), (name) => `${name}/…`).join(", ");
}
