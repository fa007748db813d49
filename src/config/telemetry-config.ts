/**
 * Decides whether and where a process exports traces and metrics: the environment variables of OpenTelemetry, or
 * `[telemetry]`.
 */
import type { EnvironmentVariables } from "../stdx/environment.ts";
import { readTextFile } from "./files.ts";
import { userConfigFile } from "./home.ts";
import { parseConfigFile } from "./repository-files.ts";
import type { ConfigTable } from "./schema.ts";

export interface TelemetryEndpoint {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly compression: "gzip" | "none";
}

export interface TelemetryConfig {
  /** Undefined if traces are not exported. */
  readonly traces?: TelemetryEndpoint | undefined;
  readonly metrics?: TelemetryEndpoint | undefined;
  readonly serviceName: string;
  readonly resourceAttributes: Readonly<Record<string, string>>;
  readonly content: boolean;
  readonly sampleRatio: number;
  readonly queueSize: number;
  readonly batchSize: number;
  readonly spanIntervalMs: number;
  readonly metricIntervalMs: number;
  /** Settings that are ignored, as sentences. A wrong variable must not stop a command. */
  readonly problems: readonly string[];
}

/**
 * The environment overrides `[telemetry]` of the user's file. A repository cannot choose where traces go. Undefined if
 * nothing is exported; in that case it parses no file. Rejects with `config_invalid`.
 */
export async function readTelemetryConfig(env: EnvironmentVariables): Promise<TelemetryConfig | undefined> {
  if (env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true") return undefined;
  const file = userConfigFile(env);
  const read = await readTextFile(file);
  const isInFile = read?.text.includes("telemetry") === true;
  const isInEnvironment = Object.keys(env).some((name) => /^OTEL_EXPORTER_OTLP_(\w+_)?ENDPOINT$/.test(name));
  if (!isInFile && !isInEnvironment) return undefined;
  const table = isInFile ? (await parseConfigFile(read.text, file)).telemetry : undefined;
  const config = toTelemetryConfig(env, table);
  return config.traces === undefined && config.metrics === undefined && config.problems.length === 0
    ? undefined
    : config;
}

/** Defaults of the specification of OpenTelemetry. */
const DEFAULTS = {
  timeoutMs: 10_000,
  queueSize: 2_048,
  batchSize: 512,
  spanIntervalMs: 5_000,
  metricIntervalMs: 60_000,
};

function toTelemetryConfig(env: EnvironmentVariables, table: ConfigTable["telemetry"] = {}): TelemetryConfig {
  const reader = new VariableReader(env);
  const resourceAttributes = reader.pairs("OTEL_RESOURCE_ATTRIBUTES");
  const { "service.name": named, ...others } = resourceAttributes;
  const queueSize = reader.count("OTEL_BSP_MAX_QUEUE_SIZE", DEFAULTS.queueSize);
  const captured = reader.text("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT")?.toLowerCase();
  return {
    traces: table.traces === false ? undefined : toEndpoint(reader, "TRACES", table.endpoint),
    metrics: table.metrics === false ? undefined : toEndpoint(reader, "METRICS", table.endpoint),
    serviceName: reader.text("OTEL_SERVICE_NAME") ?? named ?? table.service_name ?? "rookery",
    resourceAttributes: others,
    content: captured === undefined ? table.content === true : CAPTURING.includes(captured),
    sampleRatio: toSampleRatio(reader),
    queueSize,
    batchSize: Math.min(queueSize, reader.count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", DEFAULTS.batchSize)),
    spanIntervalMs: reader.count("OTEL_BSP_SCHEDULE_DELAY", DEFAULTS.spanIntervalMs),
    metricIntervalMs: reader.count("OTEL_METRIC_EXPORT_INTERVAL", DEFAULTS.metricIntervalMs),
    problems: reader.problems,
  };
}

/** The values that ask for content in spans. Others ask for it in events, which are not exported. */
const CAPTURING = ["true", "span_only", "span_and_event"];

type Signal = "TRACES" | "METRICS";

function toEndpoint(reader: VariableReader, signal: Signal, base: string | undefined): TelemetryEndpoint | undefined {
  const exporter = reader.text(`OTEL_${signal}_EXPORTER`);
  if (exporter !== undefined && !exporter.split(",").includes("otlp")) return undefined;
  const own = reader.text(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`);
  const shared = reader.text("OTEL_EXPORTER_OTLP_ENDPOINT") ?? base;
  if (own === undefined && shared === undefined) return undefined;
  const read = (name: string) =>
    reader.text(`OTEL_EXPORTER_OTLP_${signal}_${name}`) ?? reader.text(`OTEL_EXPORTER_OTLP_${name}`);
  if (read("PROTOCOL") === "grpc") {
    reader.ignore(`${signal.toLowerCase()} are not exported: only OTLP/HTTP is supported, not gRPC`);
    return undefined;
  }
  const url = parseUrl(own ?? `${shared?.replace(/\/+$/, "")}/v1/${signal.toLowerCase()}`);
  if (url === undefined) {
    reader.ignore(`${signal.toLowerCase()} are not exported: the endpoint is not an http or https URL`);
    return undefined;
  }
  const isOwnHeaders = reader.text(`OTEL_EXPORTER_OTLP_${signal}_HEADERS`) !== undefined;
  return {
    url: url.url,
    headers: { ...url.headers, ...reader.pairs(`OTEL_EXPORTER_OTLP_${isOwnHeaders ? `${signal}_` : ""}HEADERS`) },
    timeoutMs: Number(read("TIMEOUT")) > 0 ? Number(read("TIMEOUT")) : DEFAULTS.timeoutMs,
    compression: read("COMPRESSION") === "gzip" ? "gzip" : "none",
  };
}

/** `fetch` refuses a URL with a password, so it becomes a header. */
function parseUrl(
  text: string,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return undefined;
  const { username, password } = url;
  url.username = "";
  url.password = "";
  if (username === "" && password === "") return { url: url.href, headers: {} };
  const [user, secret] = [username, password].map(decode);
  if (user === undefined || secret === undefined) return undefined;
  const credentials = `${user}:${secret}`;
  return { url: url.href, headers: { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` } };
}

function toSampleRatio(reader: VariableReader): number {
  const sampler = reader.text("OTEL_TRACES_SAMPLER")?.replace(/^parentbased_/, "");
  const argument = Number(reader.text("OTEL_TRACES_SAMPLER_ARG") ?? 1);
  switch (sampler) {
    case undefined:
    case "always_on":
      return 1;
    case "always_off":
      return 0;
    case "traceidratio":
      return argument >= 0 && argument <= 1 ? argument : 1;
    default:
      reader.ignore(`OTEL_TRACES_SAMPLER is ignored: use always_on, always_off or traceidratio`);
      return 1;
  }
}

/** Reads variables and collects what is wrong with them. An empty variable counts as unset. */
class VariableReader {
  readonly problems: string[] = [];
  readonly #env: EnvironmentVariables;

  constructor(env: EnvironmentVariables) {
    this.#env = env;
  }

  ignore(problem: string): void {
    if (!this.problems.includes(problem)) this.problems.push(problem);
  }

  text(name: string): string | undefined {
    const value = this.#env[name]?.trim();
    return value === "" ? undefined : value;
  }

  /** A positive whole number. */
  count(name: string, fallback: number): number {
    const text = this.text(name);
    if (text === undefined) return fallback;
    if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
    this.ignore(`${name} is ignored: it is not a whole number above 0`);
    return fallback;
  }

  /**
   * `name=value,name=value`, with percent-encoded values. The message does not repeat them, because headers are secret.
   */
  pairs(name: string): Record<string, string> {
    const pairs = (this.text(name) ?? "").split(",").filter((pair) => pair.trim() !== "");
    return Object.fromEntries(
      pairs.flatMap((pair) => {
        const at = pair.indexOf("=");
        const key = pair.slice(0, at).trim();
        const value = decode(pair.slice(at + 1).trim());
        if (at > 0 && /^[\w.!#$%&'*+^`|~-]+$/.test(key) && value !== undefined) return [[key, value]];
        this.ignore(`a part of ${name} is ignored: it is not of the form name=value`);
        return [];
      }),
    );
  }
}

/** Undefined for invalid text, and for characters that no header can contain. */
function decode(text: string): string | undefined {
  try {
    const decoded = decodeURIComponent(text);
    return /^[\t\x20-\x7e\x80-\xff]*$/.test(decoded) ? decoded : undefined;
  } catch {
    return undefined;
  }
}
