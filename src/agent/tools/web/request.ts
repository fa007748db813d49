/** Gets one page: redirects followed within bounds, each address looked at when it is connected to. */
import { lookup as resolveName } from "node:dns";
import { request as plain, type IncomingMessage } from "node:http";
import { request as secure } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { PassThrough, type Transform } from "node:stream";
import { ToolRefusal } from "../tool.ts";
import { zoneOf, type Zone } from "./address.ts";

export interface Page {
  readonly url: string;
  readonly status: number;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** There was more. */
  readonly truncated: boolean;
}

const MOST_REDIRECTS = 5;
const MAX_BYTES = 4 * 1024 * 1024;
const REDIRECTS = [301, 302, 303, 307, 308];

/** Throws a ToolRefusal for what must not be asked, and rejects with the system's error where nobody answers. */
export async function getPage(text: string, signal: AbortSignal, zones = zoneOf): Promise<Page> {
  let url = addressOf(text);
  let mustBePublic = false;
  for (let hop = 0; hop <= MOST_REDIRECTS; hop += 1) {
    const { response, zone } = await get(url, { mustBePublic, signal, zones });
    const { location } = response.headers;
    const status = response.statusCode ?? 0;
    if (!REDIRECTS.includes(status) || location === undefined) return await bodyOf(response, url, status);
    response.destroy();
    const next = addressOf(location, url);
    if (url.protocol === "https:" && next.protocol === "http:") {
      throw new ToolRefusal(
        `${url.href} leads to ${next.href}, which is not encrypted: fetch that by itself if it is meant`,
      );
    }
    mustBePublic ||= zone === "public";
    url = next;
  }
  throw new ToolRefusal(`${text} leads on more than ${MOST_REDIRECTS} times, the last time to ${url.href}`);
}

function addressOf(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) throw new ToolRefusal(`${text} is no URL: give a whole one, with https://`);
  const url = new URL(text, base);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    throw new ToolRefusal(`${url.protocol} is not fetched, only http and https`);
  if (url.username !== "" || url.password !== "") throw new ToolRefusal("a URL with a password in it is not fetched");
  url.hash = "";
  return url;
}

interface Asking {
  readonly mustBePublic: boolean;
  readonly signal: AbortSignal;
  readonly zones: (address: string) => Zone;
}

/** What a name stands for is looked at in the moment in which it is connected to, so that it cannot be another one then. */
function get(
  url: URL,
  { mustBePublic, signal, zones }: Asking,
): Promise<{ readonly response: IncomingMessage; readonly zone: Zone }> {
  let zone: Zone = "public";
  const check = (address: string): ToolRefusal | undefined => {
    zone = zones(address);
    if (zone === "forbidden") return new ToolRefusal(`${url.hostname} is ${address}, which is not fetched from`);
    if (zone === "private" && mustBePublic) {
      return new ToolRefusal(`a public page led to ${url.href}, which is of this machine or its network: not followed`);
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
    const send = url.protocol === "https:" ? secure : plain;
    const headers = {
      "user-agent": "rookery",
      accept: "text/html,text/*,application/json,*/*;q=0.5",
      "accept-encoding": "gzip",
    };
    const asked = send(url, { method: "GET", agent: false, lookup, headers, signal });
    asked.once("response", (response) => resolve({ response, zone }));
    asked.once("error", reject);
    asked.end();
  });
}

async function bodyOf(response: IncomingMessage, url: URL, status: number): Promise<Page> {
  const chunks: Buffer[] = [];
  let size = 0;
  const decoder = decoderOf(response.headers["content-encoding"]);
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

function decoderOf(encoding: string | undefined): Transform {
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
