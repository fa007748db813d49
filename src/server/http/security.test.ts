import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
let token: string;
beforeAll(async () => {
  scene = await openHttp([], {
    times: { headers: 500, request: 700 },
    allowHosts: ["rook.example", "Bird.example:8443"],
  });
  ({ token } = scene.server);
});
afterAll(() => scene[Symbol.asyncDispose]());

const GET = (path: string, ...headers: string[]) =>
  `GET ${path} HTTP/1.1\r\n${["Connection: close", ...headers].join("\r\n")}\r\n\r\n`;
const host = () => `Host: 127.0.0.1:${scene.server.port}`;
const bearer = () => `Authorization: Bearer ${token}`;
const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const problemOf = (answer: string) => JSON.parse(/\{.*\}/s.exec(answer)?.[0] ?? "{}") as Record<string, unknown>;

describe("the token", () => {
  it.each([
    ["a missing token", () => []],
    ["another token", () => [`Authorization: Bearer ${"x".repeat(43)}`]],
    ["a prefix of the token", () => [`Authorization: Bearer ${token.slice(0, -1)}`]],
    ["the token with a suffix", () => [`Authorization: Bearer ${token}x`]],
    ["the token in another scheme", () => [`Authorization: Basic ${token}`]],
    ["the token in a cookie", () => [`Cookie: token=${token}`]],
  ])("refuses %s", async (_, headers) => {
    const answer = await scene.raw(GET("/v1/sessions", host(), ...headers()));
    expect(statusOf(answer)).toBe(401);
    expect(answer.toLowerCase()).toContain('www-authenticate: bearer realm="rookery"');
    expect(problemOf(answer)).toMatchObject({ code: "unauthorized", status: 401 });
    expect(answer).not.toContain(token);
  });

  it("is ignored in the URL and never written to the log", async () => {
    const answer = await scene.raw(GET(`/v1/sessions?token=${token}`, host()));
    expect(statusOf(answer)).toBe(401);
    await scene.raw(GET(`/v1/sessions?token=${token}`, host(), bearer()));
    await vi.waitFor(() => expect(scene.lines.filter((line) => line.includes("/v1/sessions"))).not.toEqual([]));
    expect(scene.lines.join("\n")).not.toContain(token);
  });

  it("is checked before 100 Continue is sent", async () => {
    const head = `POST /v1/tasks HTTP/1.1\r\n${host()}\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n`;
    const answer = await scene.raw(head, { keep: true });
    expect(statusOf(answer)).toBe(401);
  });

  it("is required for every path that reveals something", async () => {
    for (const path of [
      "/v1/tasks",
      "/v1/events",
      "/metrics",
      "/openapi.json",
      "/nothing",
      "/v1/health/",
      "/v1/ready/",
    ]) {
      expect([path, statusOf(await scene.raw(GET(path, host())))]).toEqual([path, 401]);
    }
    expect(statusOf(await scene.raw(GET("/v1/health", host())))).toBe(200);
    expect(statusOf(await scene.raw(GET("/v1/ready", host())))).toBe(200);
    expect(statusOf(await scene.raw(GET("/v1/health", host(), "Authorization: Bearer wrong")))).toBe(401);
    expect(statusOf(await scene.raw(`POST / HTTP/1.1\r\n${host()}\r\nConnection: close\r\n\r\n`))).toBe(401);
    expect(statusOf(await scene.raw(GET("/v1/health/../sessions", host())))).toBe(401);
  });
});

describe("Host and Origin headers", () => {
  it.each([
    ["evil.example", 403],
    ["127.0.0.1.evil.example", 403],
    ["localhost.evil.example:7433", 403],
    ["169.254.169.254", 403],
    ["[::ffff:127.0.0.1]", 403],
    ["0.0.0.0", 403],
    ["localhost@evil.example", 400],
    ["", 400],
    ["localhost", 200],
    ["LOCALHOST:1", 200],
    ["[::1]:7433", 200],
    ["rook.example", 200],
    ["bird.example", 200],
    ["localhost.:7433", 200],
  ])("responds to the host %s with %i", async (name, status) => {
    expect(statusOf(await scene.raw(GET("/v1/sessions", `Host: ${name}`, bearer())))).toBe(status);
  });

  it("refuses a request with no Host header or with two", async () => {
    expect(statusOf(await scene.raw(GET("/v1/sessions", bearer())))).toBe(400);
    expect(statusOf(await scene.raw(GET("/v1/sessions", host(), "Host: evil.example", bearer())))).toBe(400);
  });

  it.each([
    ["http://evil.example", 403],
    ["null", 403],
    ["https://127.0.0.1", 403],
    ["http://127.0.0.1:1", 403],
    ["own", 200],
  ])("responds to the origin %s with %i", async (origin, status) => {
    const from = origin === "own" ? scene.server.url : origin;
    const answer = await scene.raw(GET("/v1/sessions", host(), bearer(), `Origin: ${from}`));
    expect(statusOf(answer)).toBe(status);
    expect(answer.toLowerCase()).not.toContain("access-control");
  });
});

describe("paths and methods", () => {
  it.each([
    ["/v1/tasks/..%2f..%2fetc", 400],
    ["/v1/tasks/%2e%2e%2fpasswd", 400],
    [`/v1/tasks/${"a".repeat(300)}`, 400],
    ["/v1/tasks/A%00b", 400],
    ["/v1/tasks/--force", 400],
    ["/v1/tasks/x.lock", 400],
    ["/v1/sessions/..%2ftoken", 400],
    ["/v1/sessions/ses_%0d%0aX", 400],
    ["/v1/../token", 404],
    ["/token", 404],
    ["/v1/tasks/nothing-of-the-kind", 404],
    ["/v1/sessions/ses_nothing", 404],
    ["/v1/sessions/", 404],
    ["/v1/sessions?limit=-1", 400],
    ["/v1/sessions?limit=1e9", 400],
    ["/v1/sessions?limt=1", 400],
    ["/v1/sessions?status=gone", 400],
    ["/v1/sessions?cwd=relative", 400],
    ["/v1/sessions?agent=a&agent=b", 400],
    ["/v1/sessions?__proto__=a", 400],
    ["/v1/sessions?cwd=%2Ftmp%2F%00", 400],
    ["/v1/agents?cwd=%2Ftmp%2F%00", 400],
    ["/v1/search", 400],
    ["/v1/search?q=a&limit=-1", 400],
    ["/v1/search?q=a&cursor=ses_a.-1", 400],
    ["/v1/search?q=a&cursor=..%2Fa.1", 400],
    [`/v1/search?q=${"a".repeat(501)}`, 400],
    ["/v1/tasks/..%2fa/log", 400],
    ["/v1/tasks/nothing-of-the-kind/log", 404],
    ["/v1/events?deletions=perhaps", 400],
    ["/v1/mcp/vault/login?cwd=relative", 400],
  ])("responds to GET %s with a problem and status %i", async (path, status) => {
    const answer = await scene.raw(GET(path, host(), bearer()));
    expect(statusOf(answer)).toBe(status);
    expect(answer).toContain("application/problem+json");
    expect(problemOf(answer)).toMatchObject({ status, code: expect.any(String), detail: expect.any(String) });
  });

  it("lists the allowed methods for an unsupported one", async () => {
    const { status, headers, json } = await scene.call("PUT", "/v1/tasks/a");
    expect({ status, allow: headers.get("allow"), code: json.code }).toEqual({
      status: 405,
      allow: "GET, DELETE, HEAD, OPTIONS",
      code: "usage",
    });
    const options = await scene.call("OPTIONS", "/v1/tasks");
    expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, POST, HEAD, OPTIONS"]);
    const head = await scene.call("HEAD", "/v1/sessions");
    expect([head.status, head.text]).toEqual([200, ""]);
  });

  it("ignores method override headers", async () => {
    const sessionId = await scene.written(0);
    const headers = { "x-http-method-override": "DELETE", "x-method-override": "DELETE" };
    expect((await scene.get(`/v1/sessions/${sessionId}?`, { headers })).status).toBe(200);
    expect((await scene.post(`/v1/sessions/${sessionId}`, {}, { headers })).status).toBe(405);
    expect((await scene.get(`/v1/sessions/${sessionId}`)).status).toBe(200);
  });
});

describe("bodies", () => {
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    scene.call("POST", path, undefined, { body, headers: { "content-type": "application/json", ...headers } });

  it.each([
    ["that is not JSON", "{", {}, 400, "body"],
    ["that is not UTF-8", "\ud800", { "content-type": "application/json; charset=utf-16" }, 415, undefined],
    ["without a JSON content type", '{"prompt":"x"}', { "content-type": "text/plain" }, 415, undefined],
    ["compressed", '{"prompt":"x"}', { "content-encoding": "gzip" }, 415, undefined],
    ["that is an array", "[]", {}, 400, "body"],
    ["without a required field", "{}", {}, 400, "body.prompt"],
    ["with an unknown field", '{"prompt":"x","promt":1}', {}, 400, "body.promt"],
    ["with a wrong type in a nested field", '{"prompt":"x","budget":{"usd":"1"}}', {}, 400, "body.budget.usd"],
    ["with an id that is a path", '{"prompt":"x","id":"../../etc"}', {}, 400, "body.id"],
    ["with a relative folder", '{"prompt":"x","cwd":"."}', {}, 400, "body.cwd"],
    ["with a NUL in a folder", '{"prompt":"x","cwd":"/tmp/\\u0000"}', {}, 400, "body.cwd"],
    ["with a NUL in a branch name", '{"prompt":"x","base":"a\\u0000b"}', {}, 400, "body.base"],
    ["nested too deeply", `{"prompt":"x","budget":${"[".repeat(50_000)}${"]".repeat(50_000)}}`, {}, 400, "body"],
    ["with a __proto__ key", '{"prompt":"x","__proto__":{"id":"a"}}', {}, 400, "body.__proto__"],
  ])("refuses a body %s and names the field", async (_, body, headers, status, at) => {
    const answer = await post("/v1/tasks", body, headers);
    expect(answer).toMatchObject({ status, json: { status, code: "input_invalid", ...(at !== undefined && { at }) } });
  });

  it("refuses a Content-Length of one gigabyte before the body is sent", async () => {
    const head = `POST /v1/tasks HTTP/1.1\r\n${host()}\r\n${bearer()}\r\nContent-Type: application/json\r\nContent-Length: 1073741824\r\n`;
    for (const more of ["", "Expect: 100-continue\r\n"]) {
      const answer = await scene.raw(`${head}${more}\r\n`, { keep: true });
      expect(statusOf(answer)).toBe(413);
      expect(problemOf(answer)).toMatchObject({ code: "input_too_large" });
    }
  });

  it("refuses an endless chunked body at the size limit", async () => {
    const sent = await new Promise<{ bytes: number; answer: string }>((resolve) => {
      const socket = connect(scene.server.port, "127.0.0.1");
      const chunk = Buffer.from(`10000\r\n${"x".repeat(0x10000)}\r\n`);
      let bytes = 0;
      let answer = "";
      const more = (): void => {
        while (!socket.destroyed && bytes < 2 ** 30 && socket.write(chunk)) bytes += chunk.length;
      };
      socket.on("drain", more);
      socket.on("data", (data: Buffer) => (answer += data.toString()));
      socket.on("error", () => undefined);
      socket.on("close", () => resolve({ bytes, answer }));
      socket.write(
        `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${bearer()}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`,
      );
      more();
    });
    expect(sent.bytes).toBeLessThan(256 * 1024 * 1024); // some of it is discarded unread
    expect(statusOf(sent.answer)).toBe(413);
  });
});

describe("malformed HTTP", () => {
  it.each([
    ["two Content-Length headers", "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", 400],
    ["Content-Length with a chunked body", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400],
    ["a negative Content-Length", "Content-Length: -1\r\n\r\n", 400],
    ["a space before the colon", "Content-Length : 5\r\n\r\nhello", 400],
    ["an oversized header", `X: ${"y".repeat(64 * 1024)}\r\n\r\n`, 431],
    ["too many headers", `${Array.from({ length: 5_000 }, (_, at) => `X-${at}: y`).join("\r\n")}\r\n\r\n`, 431],
  ])("refuses %s", async (_, rest, status) => {
    const answer = await scene.raw(`POST /v1/tasks HTTP/1.1\r\n${host()}\r\n${bearer()}\r\n${rest}`);
    expect(statusOf(answer)).toBe(status);
    expect(answer.match(/HTTP\/1\.1 /g)).toHaveLength(1);
  });

  it.each([
    ["headers", () => `GET /v1/sessions HTTP/1.1\r\n${host()}\r\nX: `],
    [
      "a body",
      () =>
        `POST /v1/sessions HTTP/1.1\r\n${host()}\r\n${bearer()}\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{`,
    ],
  ])("times out for %s that never end", async (_, bytes) => {
    expect([400, 408]).toContain(statusOf(await scene.raw(bytes(), { keep: true })));
  });
});

it("hides the message of an unexpected error from the client", async () => {
  const broken = vi.spyOn(scene.store, "list").mockRejectedValueOnce(new Error("the secret is 42"));
  const { status, json, text } = await scene.get("/v1/sessions");
  expect({ status, code: json.code }).toEqual({ status: 500, code: "internal" });
  expect(text).not.toContain("secret is 42");
  await vi.waitFor(() => expect(scene.lines.join("\n")).toContain("the secret is 42"));
  expect(scene.lines.find((line) => line.includes("the secret"))).toContain(json.requestId);
  broken.mockRestore();
});
