import { createHash, randomBytes } from "node:crypto";
import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { nameBlob } from "../../blob.ts";
import type { S3Credentials, S3Limits } from "./client.ts";
import {
  sendS3Error,
  startS3TestServer,
  TEST_CREDENTIALS,
  TEST_REGION,
  type S3TestServer,
} from "./fixtures/s3-server.ts";
import { parseS3Url } from "./location.ts";
import { S3BlobStorage } from "./storage.ts";

const BYTES = randomBytes(300_000);
const REF = nameBlob(BYTES);
const { signal } = new AbortController();
/** The real delays before retries take seconds. */
const LIMITS: S3Limits = {
  startMs: 30_000,
  bytesPerSecond: 1_000_000,
  retries: 2,
  firstDelayMs: 1,
  retryWindowMs: 60_000,
};

let server: S3TestServer;
beforeEach(async () => {
  server = await startS3TestServer();
});
afterEach(() => server[Symbol.asyncDispose]());

interface Changes {
  readonly url?: string;
  readonly credentials?: Partial<S3Credentials>;
  readonly limits?: Partial<S3Limits>;
}

function storage({ url = server.url, credentials, limits }: Changes = {}): S3BlobStorage {
  return new S3BlobStorage({
    location: parseS3Url(url),
    readCredentials: async () => ({ ...TEST_CREDENTIALS, ...credentials }),
    limits: { ...LIMITS, ...limits },
  });
}

/** Resolves with the error, which must not contain a credential in its message, cause or stack. */
async function failure(work: Promise<unknown>): Promise<Error & { code?: string }> {
  const error = await work.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason as Error,
  );
  const text = [error.stack, String(error.cause), JSON.stringify(error)].join();
  for (const secret of Object.values(TEST_CREDENTIALS)) expect(text).not.toContain(secret);
  return error;
}

const objectPath = `/test-bucket/team/sha256/${REF.hash.slice("sha256:".length)}`;

it("puts and gets a blob with signatures that the server verifies, any number of times", async () => {
  await storage().put(REF, BYTES, signal);
  await storage().put(REF, BYTES, signal);
  expect([...server.objects.keys()]).toEqual([objectPath]);
  expect(BYTES.equals((await storage().get(REF.hash, signal)) ?? new Uint8Array())).toBe(true);
  expect(await storage().get(nameBlob(BYTES.subarray(1)).hash, signal)).toBeUndefined();
});

it("works without a session token and a prefix, and in an endpoint with a path", async () => {
  const asked: unknown[] = [];
  server.intercept = ({ headers, url }, response) => {
    asked.push(url, headers["x-amz-security-token"]);
    response.writeHead(200, { "content-length": BYTES.length }).end(BYTES);
    return true;
  };
  const url = `s3://test-bucket?endpoint=${server.origin}/s3/`;
  const bytes = await storage({ url, credentials: { sessionToken: undefined } }).get(REF.hash, signal);
  expect(bytes?.byteLength).toBe(BYTES.length);
  expect(asked).toEqual([`/s3/test-bucket/sha256/${REF.hash.slice(7)}`, undefined]);
});

it("puts the bucket into the host name without path_style", async () => {
  const hosts: (string | undefined)[] = [];
  server.intercept = ({ headers }, response) => {
    hosts.push(headers.host);
    sendS3Error(response, 404, "NoSuchKey");
    return true;
  };
  const { port } = new URL(server.origin);
  const url = `s3://test-bucket?endpoint=http://localhost:${port}&path_style=false`;
  const result = await storage({ url, limits: { retries: 0 } })
    .get(REF.hash, signal)
    .catch((error: unknown) => error);
  // Not every resolver knows names below localhost.
  if (result instanceof Error) expect(result.message).toContain(`test-bucket.localhost:${port}`);
  else expect(hosts).toEqual([`test-bucket.localhost:${port}`]);
});

describe("says what to do if the server refuses", () => {
  it.each([
    ["a wrong key", { credentials: { accessKeyId: "AKIAOTHER" } }, /does not know the access key: correct/],
    ["a wrong secret", { credentials: { secretAccessKey: "other" } }, /rejected the signature: correct the secret/],
    ["a wrong token", { credentials: { sessionToken: "old" } }, /session token, which may have expired: get new/],
  ])("%s", async (_, changes, message) => {
    const put = await failure(storage(changes).put(REF, BYTES, signal));
    expect(put).toMatchObject({ code: "store_unavailable", message: expect.stringMatching(message) as string });
    const get = await failure(storage(changes).get(REF.hash, signal));
    expect(get.message).toBe(put.message);
    expect(server.requests).toHaveLength(2);
  });

  it("a wrong region", async () => {
    const url = server.url.replace(TEST_REGION, "us-east-1");
    const { message } = await failure(storage({ url }).get(REF.hash, signal));
    expect(message).toBe(
      `the bucket test-bucket at ${new URL(server.origin).host} is in the region ${TEST_REGION}: set region=${TEST_REGION} in [blobs] url (status 400, AuthorizationHeaderMalformed)`,
    );
  });

  it("a bucket of another region, whose name the server sends", async () => {
    const regions = ["eu-west-1", "x y\u0007"];
    server.intercept = (_, response) => {
      const region = regions[server.requests.length - 1] ?? "";
      sendS3Error(response, 301, "PermanentRedirect", `<Region>${region}</Region>`);
      return true;
    };
    expect((await failure(storage().get(REF.hash, signal))).message).toContain("set region=eu-west-1 in [blobs] url");
    expect((await failure(storage().get(REF.hash, signal))).message).toContain("has another address or region");
  });

  it("a missing bucket", async () => {
    const url = server.url.replace("test-bucket", "no-bucket");
    const { code, message } = await failure(storage({ url }).get(REF.hash, signal));
    expect(code).toBe("store_unavailable");
    expect(message).toMatch(/the bucket no-bucket at .* does not exist: create it, or correct \[blobs\] url/);
  });

  it("a wrong clock", async () => {
    server.clockOffset = -3_600_000;
    const { message } = await failure(storage().get(REF.hash, signal));
    expect(message).toMatch(/the clock of this machine is wrong by (3599|3600|3601) s: set it/);
  });

  it.each([
    [403, "AccessDenied", "store_unavailable", /denies access: allow s3:GetObject, s3:PutObject and s3:ListBucket/],
    [507, "XMinioStorageFull", "store_full", /no space left/],
    [400, "EntityTooLarge", "input_too_large", /accepts no object of this size/],
    [405, "MethodNotAllowed", "store_unavailable", /unexpected answer: check that the endpoint .* speaks S3/],
    [404, "NotAnS3Code", "store_unavailable", /unexpected answer/],
    [301, "PermanentRedirect", "store_unavailable", /another address or region, and Rookery follows no redirects/],
  ])("%d %s", async (status, code, expected, message) => {
    server.intercept = (_, response) => {
      sendS3Error(response, status, code);
      return true;
    };
    const error = { code: expected, message: expect.stringMatching(message) as string };
    expect(await failure(storage().put(REF, BYTES, signal))).toMatchObject(error);
    expect(await failure(storage().get(REF.hash, signal))).toMatchObject(error);
    expect(server.requests, "refusals are not repeated").toHaveLength(2);
  });

  it("no credentials", async () => {
    const none = new S3BlobStorage({ location: parseS3Url(server.url), readCredentials: async () => undefined });
    const { code, message } = await failure(none.get(REF.hash, signal));
    expect(code).toBe("config_invalid");
    expect(message).toMatch(/no credentials for .*: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \[blobs\]/);
    expect(server.requests).toEqual([]);
  });
});

describe("does not believe a server that", () => {
  const lies: Record<string, [lie: (response: ServerResponse) => void, code: string, message: RegExp]> = {
    "sends other bytes of the right size": [
      (response) => response.writeHead(200, { "content-length": BYTES.length }).end(randomBytes(BYTES.length)),
      "log_corrupt",
      /has 300000 bytes with a different hash/,
    ],
    "declares and sends fewer bytes": [
      (response) => response.writeHead(200, { "content-length": 10 }).end(BYTES.subarray(0, 10)),
      "log_corrupt",
      /has 10 bytes with a different hash/,
    ],
    "sends more bytes": [
      (response) => response.writeHead(200).end(Buffer.concat([BYTES, BYTES])),
      "log_corrupt",
      /has 600000 bytes with a different hash/,
    ],
    "sends an error document with status 200": [
      (response) => sendS3Error(response, 200, "InternalError"),
      "log_corrupt",
      /with a different hash/,
    ],
    "sends a page with status 200 and no length": [
      (response) => response.writeHead(200).end("<html>Welcome to the hotel's network</html>"),
      "log_corrupt",
      /has 43 bytes with a different hash/,
    ],
    "sends nothing with status 204": [(response) => response.writeHead(204).end(), "log_corrupt", /has 0 bytes/],
    "ends the body too early": [
      (response) => {
        response.writeHead(200, { "content-length": BYTES.length });
        response.write(BYTES.subarray(0, 100_000), () => response.destroy());
      },
      "store_unavailable",
      /cannot reach the bucket/,
    ],
    "redirects to another server": [
      (response) => response.writeHead(302, { location: "http://127.0.0.1:9/steal" }).end(),
      "store_unavailable",
      /unexpected answer: .* \(status 302\)/,
    ],
  };

  it.each(Object.entries(lies))("%s", async (_, [lie, code, message]) => {
    server.intercept = (_request, response) => {
      lie(response);
      return true;
    };
    expect(await failure(storage().get(REF.hash, signal))).toMatchObject({
      code,
      message: expect.stringMatching(message) as string,
    });
    expect(server.requests.length).toBe(code === "store_unavailable" && !message.source.includes("302") ? 3 : 1);
  });

  it("sends bytes without an end, after the maximum size of a blob", async () => {
    const chunk = Buffer.alloc(1024 * 1024);
    let sent = 0;
    server.intercept = (_, response) => {
      response.writeHead(200);
      const more = (): void => {
        sent += 1;
        if (!response.destroyed) response.write(chunk, more);
      };
      more();
      return true;
    };
    const { code, message } = await failure(storage().get(REF.hash, signal));
    expect(code).toBe("log_corrupt");
    expect(message).toMatch(/is larger than 64 MB, the maximum size of a blob/);
    expect(sent).toBeLessThan(100);
    expect(server.requests).toHaveLength(1);
  });

  it("sends a small body that decompresses to a huge one", async () => {
    const body = gzipSync(Buffer.alloc(65 * 1024 * 1024));
    server.intercept = (_, response) => {
      response.writeHead(200, { "content-encoding": "gzip", "content-length": body.length }).end(body);
      return true;
    };
    const { code, message } = await failure(storage().get(REF.hash, signal));
    expect(code).toBe("log_corrupt");
    expect(message).toMatch(/is larger than 64 MB/);
  });

  it("sends a byte now and then, or nothing at all", async () => {
    const timers: NodeJS.Timeout[] = [];
    server.intercept = (_, response) => {
      if (server.requests.length % 2 === 0) return true;
      response.writeHead(200, { "content-length": BYTES.length });
      timers.push(setInterval(() => response.write("x"), 10));
      return true;
    };
    const started = Date.now();
    const { code, message } = await failure(storage({ limits: { startMs: 200, retries: 1 } }).get(REF.hash, signal));
    for (const timer of timers) clearInterval(timer);
    expect(code).toBe("store_unavailable");
    expect(message).toMatch(/did not answer within \d+\.\d s: check the server and the network/);
    expect(server.requests).toHaveLength(2);
    expect(Date.now() - started).toBeLessThan(20_000);
  });

  it.each([
    ["but stores nothing", undefined, /accepted blob .* but does not have it/],
    ["but reports another size", 12, /accepted blob .* but has one with a size of 12 bytes/],
  ])("accepts a blob %s", async (_, size, message) => {
    server.intercept = ({ method }, response) => {
      if (method === "HEAD") response.writeHead(size === undefined ? 404 : 200, { "content-length": size ?? 0 });
      response.end();
      return true;
    };
    expect(await failure(storage().put(REF, BYTES, signal))).toMatchObject({
      code: "store_unavailable",
      message: expect.stringMatching(message) as string,
    });
  });

  it.each([
    ["declares fewer bytes than it sends", `HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n${"x".repeat(1_000)}`],
    ["declares more bytes than it sends", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999999\r\n\r\nxxx"],
    ["declares a negative size", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nxxx"],
    ["declares two sizes", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx"],
    ["declares a size and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\nxx"],
    ["sends chunks of a wrong size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nxx"],
    ["speaks no HTTP", "220 mail.example ESMTP\r\n"],
  ])("%s", async (_, text) => {
    const other = createServer((socket) => {
      socket.on("error", () => undefined); // the client closes the connection
      socket.once("data", () => socket.end(text));
    });
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const url = `s3://test-bucket?endpoint=http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const { code, message } = await failure(storage({ url }).get(REF.hash, signal));
    other.close();
    expect(["store_unavailable", "log_corrupt"]).toContain(code);
    expect(message).toMatch(/^cannot reach the bucket test-bucket .* is correct|has 10 bytes with a different hash/);
  });

  it("speaks no TLS, without a retry", async () => {
    const url = server.url.replace("endpoint=http:", "endpoint=https:");
    const { code, message } = await failure(storage({ url }).get(REF.hash, signal));
    expect(code).toBe("store_unavailable");
    expect(message).toMatch(/^no trusted TLS connection to the bucket .*: correct the endpoint, or name its authority/);
  });
});

it.each([500, 502, 503, 504, 429])("repeats a request after status %d", async (status) => {
  let failures = 2;
  server.intercept = (_, response) => {
    if (failures === 0) return false;
    failures -= 1;
    response.writeHead(status).end();
    return true;
  };
  await storage().put(REF, BYTES, signal);
  expect(server.requests.map(({ method }) => method)).toEqual(["PUT", "PUT", "PUT", "HEAD"]);
  expect(
    createHash("sha256")
      .update(server.objects.get(objectPath) ?? "")
      .digest("hex"),
  ).toBe(REF.hash.slice(7));
});

it("repeats a request whose connection breaks, and gives up after the last retry", async () => {
  let failures = 2;
  server.intercept = (_, response) => {
    failures -= 1;
    if (failures < 0) return false;
    response.destroy();
    return true;
  };
  expect(await storage().get(REF.hash, signal)).toBeUndefined();
  failures = 100;
  const { code, message } = await failure(storage().get(REF.hash, signal));
  expect(code).toBe("store_unavailable");
  expect(message).toMatch(/cannot reach the bucket/);
  expect(server.requests).toHaveLength(6);
});

it("names a server that does not listen", async () => {
  await server[Symbol.asyncDispose]();
  const { message } = await failure(storage().get(REF.hash, signal));
  expect(message).toBe(
    `cannot reach the bucket test-bucket at ${new URL(server.origin).host}: check that it runs and that the endpoint in [blobs] url is correct (ECONNREFUSED)`,
  );
});

it("ends a request and a wait for a retry when the signal fires", async () => {
  const reason = new Error("closed");
  const controller = new AbortController();
  server.intercept = () => {
    controller.abort(reason);
    return true;
  };
  await expect(storage().get(REF.hash, controller.signal)).rejects.toBe(reason);
  await expect(storage().get(REF.hash, controller.signal)).rejects.toBe(reason);
  expect(server.requests).toHaveLength(1);
});

it("reads the credentials before each request", async () => {
  let credentials: S3Credentials = { ...TEST_CREDENTIALS, sessionToken: "old" };
  const rotated = new S3BlobStorage({
    location: parseS3Url(server.url),
    readCredentials: async () => credentials,
    limits: LIMITS,
  });
  expect((await failure(rotated.get(REF.hash, signal))).message).toContain("InvalidToken");
  credentials = TEST_CREDENTIALS;
  expect(await rotated.get(REF.hash, signal)).toBeUndefined();
});

describe("the probe", () => {
  it("puts, gets and deletes an object", async () => {
    const report = await storage().probe(signal);
    expect(report).toMatchObject({ where: `the bucket test-bucket at ${new URL(server.origin).host}` });
    expect(report.remaining).toBeUndefined();
    expect(server.requests.map(({ method }) => method)).toEqual(["PUT", "GET", "DELETE"]);
    expect(server.objects.size).toBe(0);
  });

  it("names the object that it may not delete", async () => {
    server.intercept = ({ method }, response) => {
      if (method !== "DELETE") return false;
      sendS3Error(response, 403, "AccessDenied");
      return true;
    };
    const { remaining } = await storage().probe(signal);
    expect([...server.objects.keys()]).toEqual([`/test-bucket/team/${remaining}`]);
  });

  it("fails if it gets other bytes", async () => {
    server.intercept = ({ method }, response) => {
      if (method !== "GET") return false;
      response.writeHead(200).end("other");
      return true;
    };
    expect((await failure(storage().probe(signal))).message).toMatch(/returned different bytes than it had received/);
  });
});
