/** Sends one OTLP/HTTP request and classifies the result. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { messageOf } from "../../domain/index.ts";
import { deadline } from "../../stdx/index.ts";

export interface OtlpEndpoint {
  /** The whole URL, such as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  /** May contain secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly compression: "gzip" | "none";
}

/** `accepted` may be partial: `rejected` items were refused. `retry`: try again, not before `afterMs`. */
export type SendResult =
  | { readonly status: "accepted"; readonly rejected: number; readonly reason?: string | undefined }
  | { readonly status: "retry"; readonly afterMs?: number | undefined; readonly reason: string }
  | { readonly status: "refused"; readonly reason: string };

/** By the OTLP specification, only these may be retried. */
const RETRYABLE = [429, 502, 503, 504];
/** A collector needs less for its response. In bytes. */
const MAX_RESPONSE = 64 * 1024;
const MAX_REASON = 200;
const compress = promisify(gzip);

/** Never rejects. */
export async function sendOtlp(endpoint: OtlpEndpoint, body: string, signal: AbortSignal): Promise<SendResult> {
  const { url, timeoutMs, compression } = endpoint;
  using limit = deadline(timeoutMs, signal);
  try {
    const isCompressed = compression === "gzip";
    const response = await fetch(url, {
      method: "POST",
      redirect: "error", // a redirect could send the headers to another server
      body: isCompressed ? await compress(body) : body,
      headers: {
        ...endpoint.headers,
        "content-type": "application/json",
        ...(isCompressed && { "content-encoding": "gzip" }),
      },
      signal: limit.signal,
    });
    const text = await readBounded(response);
    if (response.ok) return { status: "accepted", ...readPartialSuccess(text) };
    const reason = `${toOrigin(url)} responded with ${response.status}`;
    if (!RETRYABLE.includes(response.status)) return { status: "refused", reason };
    return { status: "retry", reason, afterMs: readRetryAfter(response.headers.get("retry-after")) };
  } catch (error) {
    const reason = limit.isLate ? `did not answer within ${timeoutMs / 1000} s` : `failed: ${describeError(error)}`;
    return { status: "retry", reason: `${toOrigin(url)} ${reason}` };
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += (chunk as Uint8Array).byteLength;
    if (size > MAX_RESPONSE) break; // leaving the loop cancels the body
    chunks.push(chunk as Uint8Array);
  }
  return Buffer.concat(chunks).toString();
}

function readPartialSuccess(text: string): { rejected: number; reason?: string } {
  try {
    const { partialSuccess = {} } = JSON.parse(text) as { partialSuccess?: Record<string, unknown> };
    const rejected = Number(partialSuccess["rejectedSpans"] ?? partialSuccess["rejectedDataPoints"] ?? 0);
    const reason = partialSuccess["errorMessage"];
    return {
      rejected: Number.isFinite(rejected) ? rejected : 0,
      ...(typeof reason === "string" && reason !== "" && { reason: reason.slice(0, MAX_REASON) }),
    };
  } catch {
    return { rejected: 0 }; // some collectors send no body
  }
}

/** Seconds or a date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
}

/** Without the path and credentials. */
function toOrigin(url: string): string {
  return new URL(url).origin;
}

function describeError(error: unknown): string {
  const { cause } = error as { cause?: { code?: string } };
  return cause?.code ?? messageOf(error).slice(0, MAX_REASON);
}
