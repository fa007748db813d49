/** Converts responses of S3 and failed connections to errors with a fix. Only this file knows the error codes of S3. */
import { messageOf, RookeryError, type ErrorCode } from "../../../domain/index.ts";

/** The parts of a response that say what went wrong. No message of the server is kept: it may repeat a token. */
export interface S3Refusal {
  readonly status: number;
  /** The code in the error document, such as `NoSuchKey`. Empty if there is none. */
  readonly code: string;
  /** The region of the bucket, if the server names it. */
  readonly region?: string | undefined;
  /** The clock of the server minus the clock of this machine, in seconds. */
  readonly clockOffset?: number | undefined;
}

/** `document` is the beginning of the response's body. */
export function readRefusal({ status, headers }: Response, document: string): S3Refusal {
  const date = Date.parse(headers.get("date") ?? "");
  return {
    status,
    code: /<Code>([A-Za-z0-9.]{1,60})<\/Code>/.exec(document)?.[1] ?? "",
    region: toRegion(headers.get("x-amz-bucket-region")) ?? toRegion(/<Region>([^<]{1,64})</.exec(document)?.[1]),
    clockOffset: Number.isNaN(date) ? undefined : Math.round((date - Date.now()) / 1_000),
  };
}

/** Whether the same request may succeed soon. */
export function isTransientRefusal({ status, code }: S3Refusal): boolean {
  return [408, 429, 500, 502, 503, 504].includes(status) || /^(RequestTimeout|SlowDown|InternalError)$/.test(code);
}

export function toRefusalError(refusal: S3Refusal, where: string): RookeryError {
  const { status, code } = refusal;
  const found = REFUSALS.find(({ codes, statuses = [] }) => codes.test(code) || statuses.includes(status));
  const { error = "store_unavailable", describe } = found ?? UNKNOWN_REFUSAL;
  const answer = code === "" ? `status ${status}` : `status ${status}, ${code}`;
  return new RookeryError(error, `${describe(where, refusal)} (${answer})`);
}

interface RefusalMapping {
  readonly codes: RegExp;
  readonly statuses?: readonly number[];
  /** Default: `store_unavailable`. */
  readonly error?: ErrorCode;
  readonly describe: (where: string, refusal: S3Refusal) => string;
}

const NEVER = /^(?!)/;

/** The first match counts, so codes come before the statuses that they share. */
const REFUSALS: readonly RefusalMapping[] = [
  {
    codes: /^NoSuchBucket$/,
    describe: (where) => `${where} does not exist: create it, or correct [blobs] url`,
  },
  {
    codes: /^InvalidAccessKeyId$/,
    describe: (where) => `${where} does not know the access key: correct the access key id`,
  },
  {
    codes: /^(SignatureDoesNotMatch|InvalidSignature)$/,
    describe: (where) => `${where} rejected the signature: correct the secret access key and region in [blobs] url`,
  },
  {
    codes: /^(ExpiredToken|InvalidToken|TokenRefreshRequired)$/,
    describe: (where) => `${where} rejected the session token, which may have expired: get new credentials`,
  },
  {
    codes: /^RequestTimeTooSkewed$/,
    describe: (where, { clockOffset }) => {
      const seconds = Math.abs(clockOffset ?? 0);
      const by = seconds === 0 ? "" : ` by ${seconds} s`;
      return `${where} refuses requests because the clock of this machine is wrong${by}: set it, for example with NTP`;
    },
  },
  {
    codes: /^(PermanentRedirect|TemporaryRedirect|AuthorizationHeaderMalformed|IllegalLocationConstraintException)$/,
    statuses: [301, 307, 308],
    describe: (where, { region }) =>
      region === undefined
        ? `${where} has another address or region, and Rookery follows no redirects: correct [blobs] url`
        : `${where} is in the region ${region}: set region=${region} in [blobs] url`,
  },
  {
    codes: /^(QuotaExceeded\w*|XMinioStorageFull|InsufficientCapacity)$/,
    statuses: [507],
    error: "store_full",
    describe: (where) => `no space left in ${where}: free some, or raise its quota`,
  },
  {
    codes: /^EntityTooLarge$/,
    statuses: [413],
    error: "input_too_large",
    describe: (where) => `${where} accepts no object of this size: raise its limit, or [blobs] over`,
  },
  {
    codes: /^(AccessDenied|AllAccessDisabled|AccountProblem)$/,
    statuses: [401, 403],
    describe: (where) =>
      `${where} denies access: allow s3:GetObject, s3:PutObject and s3:ListBucket; without the last one, S3 reports missing objects as forbidden`,
  },
  {
    codes: NEVER,
    statuses: [408, 429, 500, 502, 503, 504],
    describe: (where) => `${where} is overloaded or not working: try again later`,
  },
];

const UNKNOWN_REFUSAL: RefusalMapping = {
  codes: NEVER,
  describe: (where) => `${where} gave an unexpected answer: check that the endpoint in [blobs] url speaks S3`,
};

/** Converts an error of `fetch`. */
export function toConnectionError(error: unknown, where: string): RookeryError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = readCode(cause);
  const isTls = TLS_CODES.test(code);
  const problem = isTls
    ? `no trusted TLS connection to ${where}: correct the endpoint, or name its authority with NODE_EXTRA_CA_CERTS`
    : `cannot reach ${where}: check that it runs and that the endpoint in [blobs] url is correct`;
  const detail = code === "" ? messageOf(cause) : code;
  return new RookeryError("store_unavailable", `${problem} (${detail})`, { cause: error });
}

/** Not retried, because a certificate does not become valid soon. */
export function isTransientConnectionError(error: unknown): boolean {
  return !TLS_CODES.test(readCode(error instanceof Error && error.cause !== undefined ? error.cause : error));
}

const TLS_CODES = /^(CERT_|DEPTH_|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|EPROTO)/;

function readCode(cause: unknown): string {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : "";
  return typeof code === "string" ? code : "";
}

function toRegion(text: string | null | undefined): string | undefined {
  return typeof text === "string" && /^[a-z0-9-]{1,64}$/.test(text) ? text : undefined;
}
