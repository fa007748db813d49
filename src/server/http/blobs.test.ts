import { afterEach, beforeEach, expect, it } from "vitest";
import { say } from "../../testing/index.ts";
import { openHttp, type HttpScene } from "./test-scene.ts";

let scene: HttpScene;
beforeEach(async () => {
  scene = await openHttp([say("a picture")]);
});
afterEach(() => scene[Symbol.asyncDispose]());

const PNG = Buffer.from("\x89PNG\r\n\x1a\n0000", "latin1");
const PAGE = "<script>alert(document.domain)</script>";

function upload(bytes: Buffer | string, type: string | undefined, { query = "", headers = {} } = {}) {
  const body = typeof bytes === "string" ? bytes : new Uint8Array(bytes);
  const init = { body, headers: { ...(type !== undefined && { "content-type": type }), ...headers } };
  return scene.post(`/v1/blobs${query}`, undefined, init);
}

async function download(hash: string, method = "GET") {
  const headers = { authorization: `Bearer ${scene.server.token}` };
  const response = await fetch(`${scene.server.url}/v1/blobs/${hash}`, { method, headers });
  return { response, bytes: Buffer.from(await response.arrayBuffer()) };
}

it("stores an image that a prompt can refer to, and returns its bytes with their type", async () => {
  const stored = await upload(PNG, "image/png", { query: "?name=shot.png" });
  expect(stored).toMatchObject({ status: 201, json: { type: "blob", mediaType: "image/png", name: "shot.png" } });
  const { hash } = stored.json as unknown as { hash: string };
  const { response, bytes } = await download(hash);
  expect(bytes.equals(PNG)).toBe(true);
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "image/png",
    "content-security-policy": "sandbox; default-src 'none'",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
  });
  expect(response.headers.get("content-disposition")).toBeNull();
  const { id } = (await scene.post("/v1/sessions", { agent: "anthropic", cwd: scene.cwd })).json;
  const input = [{ type: "text", text: "what is this?" }, stored.json];
  expect(await scene.post(`/v1/sessions/${id}/turns`, { input })).toMatchObject({ status: 202 });
});

it("sends everything else as a download, whatever type it was stored with", async () => {
  for (const [bytes, type] of [
    [PAGE, "text/html"],
    ["<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", "image/svg+xml"],
    ["alert(1)", "text/javascript"],
  ] as const) {
    const { json } = await upload(bytes, type);
    expect(json).toMatchObject({ mediaType: type });
    const { response } = await download((json as unknown as { hash: string }).hash);
    expect(response.headers.get("content-type")).toBe("application/octet-stream");
    expect(response.headers.get("content-disposition")).toBe("attachment");
    expect(response.headers.get("content-security-policy")).toContain("sandbox");
  }
});

it("believes the bytes of an image rather than its declared type", async () => {
  expect((await upload(PNG, "text/html")).json).toMatchObject({ mediaType: "image/png" });
  expect(await upload(PAGE, "image/png")).toMatchObject({ status: 400, json: { code: "input_invalid" } });
  expect((await upload("x", undefined)).json).toMatchObject({ mediaType: expect.stringMatching(/^\w+\/[\w-]+$/) });
  expect((await upload("x", `text/${"x".repeat(200)}`)).json).toMatchObject({ mediaType: "application/octet-stream" });
});

it("answers HEAD with the headers only", async () => {
  const { json } = await upload("four", "text/plain");
  const { response, bytes } = await download((json as unknown as { hash: string }).hash, "HEAD");
  expect(response.status).toBe(200);
  expect(response.headers.get("content-length")).toBe("4");
  expect(bytes).toHaveLength(0);
});

it("refuses uploads that are empty, too large, or have an idempotency key", async () => {
  expect(await upload("", "text/plain")).toMatchObject({ status: 400, json: { code: "input_invalid" } });
  const large = Buffer.alloc(10 * 1024 * 1024 + 1);
  expect(await upload(large, "text/plain")).toMatchObject({ status: 413, json: { code: "input_too_large" } });
  const headers = { "idempotency-key": "12345678" };
  expect(await upload("x", "text/plain", { headers })).toMatchObject({ status: 400, json: { code: "input_invalid" } });
  expect(await upload("x", "text/plain", { query: `?name=${"n".repeat(300)}` })).toMatchObject({ status: 400 });
  expect(await upload("x", "text/plain", { query: "?path=/etc/passwd" })).toMatchObject({ status: 400 });
});

it("stops reading a chunked upload at the limit", async () => {
  const chunk = new Uint8Array(1024 * 1024);
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      sent += 1;
      if (sent > 100) controller.close();
      else controller.enqueue(chunk);
    },
  });
  const response = await fetch(`${scene.server.url}/v1/blobs`, {
    method: "POST",
    headers: { authorization: `Bearer ${scene.server.token}` },
    body,
    duplex: "half",
  }).catch(() => undefined); // the connection may break before the response is read
  if (response !== undefined) expect(response.status).toBe(413);
  expect(sent).toBeLessThan(100);
});

it("responds with blob_not_found to an unknown hash, and refuses paths and bad hashes", async () => {
  const unknown = `sha256:${"0".repeat(64)}`;
  expect(await scene.get(`/v1/blobs/${unknown}`)).toMatchObject({ status: 404, json: { code: "blob_not_found" } });
  for (const hash of ["sha256:short", "md5:0", "..%2f..%2fetc%2fpasswd", `sha256:${"A".repeat(64)}`, "x".repeat(9_000)])
    expect(await scene.get(`/v1/blobs/${hash}`)).toMatchObject({ status: 400, json: { code: "input_invalid" } });
  const stranger = await fetch(`${scene.server.url}/v1/blobs/${unknown}`);
  expect(stranger.status).toBe(401);
  expect((await fetch(`${scene.server.url}/v1/blobs`, { method: "POST", body: "x" })).status).toBe(401);
});
