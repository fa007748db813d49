/** Gets one page. Follows a limited number of redirects and checks each address when it connects. */
import { lookup as resolveName } from "node:dns";
import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { PassThrough, type Transform } from "node:stream";
import { ToolRefusal } from "../tool-refusal.ts";
import { classifyAddress, type AddressZone } from "./address.ts";

export interface FetchedPage {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** Whether the page was longer. */
  readonly truncated: boolean;
}

const MAX_REDIRECTS = 5;
const MAX_BYTES = 4 * 1024 * 1024;
const REDIRECTS = [301, 302, 303, 307, 308];

/**
 * Rejects with a ToolRefusal for a URL that is not allowed, and with the system's error if the server cannot be
 * reached.
 */
export async function getPage(text: string, signal: AbortSignal, classify = classifyAddress): Promise<FetchedPage> {
  let url = parsePageUrl(text);
  let mustBePublic = false;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    const { response, zone } = await sendGet(url, { mustBePublic, signal, classify });
    const { location } = response.headers;
    const status = response.statusCode ?? 0;
    if (!REDIRECTS.includes(status) || location === undefined) return await readPageBody(response, url, status);
    response.destroy();
    const next = parsePageUrl(location, url);
    if (url.protocol === "https:" && next.protocol === "http:") {
      throw new ToolRefusal(
        `${url.href} redirects to ${next.href}, which is not encrypted: fetch that URL directly if you want it`,
      );
    }
    mustBePublic ||= zone === "public";
    url = next;
  }
  throw new ToolRefusal(`${text} redirects more than ${MAX_REDIRECTS} times, the last time to ${url.href}`);
}

/** Throws a ToolRefusal if the URL is not allowed. */
export function parsePageUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href))
    throw new ToolRefusal(`${text} is not a valid URL: pass a complete one with https://`);
  const url = new URL(text, base);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new ToolRefusal(`${url.protocol} is not supported: only http and https are`);
  if (url.username !== "" || url.password !== "")
    throw new ToolRefusal("a URL must not contain a user name or a password");
  url.hash = "";
  return url;
}

interface GetOptions {
  readonly mustBePublic: boolean;
  readonly signal: AbortSignal;
  readonly classify: (address: string) => AddressZone;
}

/**
 * Checks the address during the connection's own DNS lookup, so that the name cannot resolve differently afterwards.
 */
function sendGet(
  url: URL,
  { mustBePublic, signal, classify }: GetOptions,
): Promise<{ readonly response: IncomingMessage; readonly zone: AddressZone }> {
  let zone: AddressZone = "public";
  const check = (address: string): ToolRefusal | undefined => {
    zone = classify(address);
    if (zone === "forbidden")
      return new ToolRefusal(`${url.hostname} resolves to ${address}, which is a forbidden address`);
    if (zone === "private" && mustBePublic) {
      return new ToolRefusal(
        `a public page redirects to ${url.href}, which is an address of this machine or its network: the redirect was not followed`,
      );
    }
    return undefined;
  };
  const lookup: LookupFunction = (host, options, done) => {
    resolveName(host, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, []);
      const refusal = found.map(({ address }) => check(address)).find((refused) => refused !== undefined);
      if (refusal !== undefined) return done(refusal, []);
      const [first] = found;
      if (options.all === true) done(null, found);
      else done(null, first?.address ?? "", first?.family);
    });
  };
  return new Promise((resolve, reject) => {
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const refusal = isIP(host) === 0 ? undefined : check(host);
    if (refusal !== undefined) return reject(refusal);
    const send = url.protocol === "https:" ? requestHttps : requestHttp;
    const headers = {
      "user-agent": "rookery",
      accept: "text/html,text/*,application/json,*/*;q=0.5",
      "accept-encoding": "gzip",
    };
    const request = send(url, { method: "GET", agent: false, lookup, headers, signal });
    request.once("response", (response) => resolve({ response, zone }));
    request.once("error", reject);
    request.end();
  });
}

async function readPageBody(response: IncomingMessage, url: URL, status: number): Promise<FetchedPage> {
  const chunks: Buffer[] = [];
  let size = 0;
  const decoder = createDecoder(response.headers["content-encoding"]);
  decoder.on("data", (bytes: Buffer) => {
    chunks.push(bytes);
    if ((size += bytes.length) > MAX_BYTES) response.destroy();
  });
  await pipeline(response, decoder).catch((error: unknown) => {
    if (size <= MAX_BYTES) throw error;
  });
  const contentType = response.headers["content-type"] ?? "";
  const bytes = Buffer.concat(chunks).subarray(0, MAX_BYTES);
  return { url: url.href, status, contentType, bytes, truncated: size > MAX_BYTES };
}

function createDecoder(encoding: string | undefined): Transform {
  switch (encoding?.toLowerCase()) {
    case "gzip":
    case "x-gzip":
      return createGunzip();
    case "deflate":
      return createInflate();
    case "br":
      return createBrotliDecompress();
    default:
      return new PassThrough();
  }
}
