/** Parses the URL of blobs in S3. No message of this file contains the URL, because someone may write a key into it. */
import { BlockList, isIP } from "node:net";
import { RookeryError } from "../../../domain/index.ts";

export interface S3Location {
  readonly bucket: string;
  /** Empty, or a path without a slash at its ends. */
  readonly prefix: string;
  /** The address of the bucket, without a slash at the end. */
  readonly base: string;
  readonly region: string;
}

const PARAMETERS = ["endpoint", "region", "path_style", "allow_http"];
const EXAMPLE = "write s3://BUCKET/PREFIX?endpoint=https://HOST&region=REGION";
const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");
LOOPBACK.addAddress("::1", "ipv6");

/**
 * Parses `s3://bucket/prefix?endpoint=https://…&region=…&path_style=true&allow_http=true`. Without an endpoint, the bucket
 * is at AWS. Paths contain the bucket (`path_style`) by default if there is an endpoint. Throws `config_invalid`.
 */
export function parseS3Url(text: string, defaultRegion = "us-east-1"): S3Location {
  const url = /^s3:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw invalid(`is not a URL of S3: ${EXAMPLE}`);
  if (url.username !== "" || url.password !== "") {
    throw invalid("contains credentials: remove them, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead");
  }
  const { searchParams } = url;
  for (const name of searchParams.keys()) {
    if (!PARAMETERS.includes(name)) throw invalid(`does not support the parameter "${name}": remove it`);
  }
  const bucket = url.hostname;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]$/.test(bucket) || url.port !== "") {
    throw invalid(`names no valid bucket: ${EXAMPLE}`);
  }
  const region = searchParams.get("region") ?? defaultRegion;
  if (!/^[A-Za-z0-9-]{1,64}$/.test(region)) throw invalid("has an invalid region: use letters, digits and hyphens");
  const endpoint = toEndpoint(searchParams, region);
  // A certificate for *.s3.amazonaws.com does not cover a bucket with dots.
  const pathStyle = readFlag(searchParams, "path_style") ?? (searchParams.has("endpoint") || bucket.includes("."));
  const path = endpoint.pathname.replace(/\/+$/, "");
  const base = pathStyle
    ? `${endpoint.origin}${path}/${bucket}`
    : `${endpoint.protocol}//${bucket}.${endpoint.host}${path}`;
  return { bucket, prefix: toPrefix(url.pathname), base, region };
}

/** The bucket and the server, for messages. */
export function describeS3({ bucket, base }: S3Location): string {
  return `the bucket ${bucket} at ${new URL(base).host}`;
}

/** The address of an object. */
export function toObjectUrl({ base, prefix }: S3Location, key: string): string {
  return [base, ...(prefix === "" ? [] : [prefix]), key].join("/");
}

function toEndpoint(parameters: URLSearchParams, region: string): URL {
  const text = parameters.get("endpoint") ?? `https://s3.${region}.amazonaws.com`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search !== "" || url.hash !== "") {
    throw invalid("has an invalid endpoint: write endpoint=https://HOST, and encode & and # in it");
  }
  if (url.username !== "" || url.password !== "") throw invalid("contains credentials in its endpoint: remove them");
  const isPlain = url.protocol === "http:" && !isLoopback(url.hostname);
  if (isPlain && readFlag(parameters, "allow_http") !== true) {
    throw invalid("has an endpoint without TLS: use https, or add allow_http=true if you trust the whole network");
  }
  return url;
}

function isLoopback(hostname: string): boolean {
  if (/(^|\.)localhost$/.test(hostname)) return true;
  const address = hostname.replace(/^\[|\]$/g, "");
  return isIP(address) !== 0 && LOOPBACK.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

function readFlag(parameters: URLSearchParams, name: string): boolean | undefined {
  const value = parameters.get(name);
  if (value === null) return undefined;
  if (value !== "true" && value !== "false") throw invalid(`has an invalid ${name}: write ${name}=true or =false`);
  return value === "true";
}

/** Restricted to characters that every server and signature encodes in the same way. */
function toPrefix(pathname: string): string {
  const prefix = pathname.replace(/^\/|\/$/g, "");
  const isValid = prefix === "" || prefix.split("/").every((part) => /^(?!\.{1,2}$)[\w.-]+$/.test(part));
  if (isValid && prefix.length <= 512) return prefix;
  throw invalid("has an invalid prefix: use letters, digits, and . _ - between slashes, at most 512 characters");
}

function invalid(problem: string): RookeryError {
  return new RookeryError("config_invalid", `the URL of the blobs ${problem}`);
}
