// own process: reads the built page
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHttp, type HttpScene } from "../test-scene.ts";
import { isSignedIn, makeSignIn } from "./sign-in.ts";

let scene: HttpScene;
let url: string;
beforeAll(async () => {
  scene = await openHttp();
  ({ url } = scene.server);
});
afterAll(() => scene[Symbol.asyncDispose]());

const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(`${url}${path}`, { redirect: "manual", ...init, headers });
const POST = { method: "POST", body: "{}" };
const JSON_BODY = { "content-type": "application/json" };

/** Signs in as a browser does. */
async function signIn() {
  const { url: link } = scene.server.makeSignInLink();
  const response = await fetch(link, { redirect: "manual" });
  const setCookie = response.headers.get("set-cookie") ?? "";
  const location = response.headers.get("location") ?? "";
  const credentials = { cookie: setCookie.split(";")[0]!, "x-rookery-page-key": location.split("#key=")[1] ?? "" };
  return { response, link, setCookie, location, credentials };
}

describe("a link that signs in", () => {
  it("sets a cookie for this site that scripts cannot read, and passes the key in the fragment", async () => {
    const { response, setCookie, location } = await signIn();
    expect(response.status).toBe(303);
    expect(setCookie).toMatch(/^rookery_\d+=[\w-]+\.\d+\.[\w-]+; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Strict$/);
    expect(location).toMatch(/^\/#key=[\w-]{43}$/);
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(setCookie + location).not.toContain(scene.server.token);
  });

  it("works once, and a wrong or missing ticket does not work", async () => {
    const { link } = await signIn();
    for (const other of [link, `${url}/sign-in`, `${url}/sign-in?ticket=nope`]) {
      const response = await fetch(other, { redirect: "manual" });
      expect([response.status, response.headers.get("set-cookie")]).toEqual([401, null]);
      expect(await response.text()).toContain("<title>Rookery</title>");
    }
  });

  it("is not used up by HEAD requests and prefetching", async () => {
    const { url: link } = scene.server.makeSignInLink();
    expect((await fetch(link, { method: "HEAD", redirect: "manual" })).status).toBe(401);
    expect((await fetch(link, { headers: { "sec-purpose": "prefetch" }, redirect: "manual" })).status).toBe(401);
    expect((await fetch(link, { redirect: "manual" })).status).toBe(303);
  });

  it("is made by a request with the token only", async () => {
    expect((await scene.call("POST", "/v1/tickets", {})).status).toBe(201);
    const { credentials } = await signIn();
    expect((await get("/v1/tickets", { ...credentials, ...JSON_BODY, origin: url }, POST)).status).toBe(401);
    expect((await get("/v1/tickets", JSON_BODY, POST)).status).toBe(401);
  });
});

describe("a page that is signed in", () => {
  it("can read with its cookie and its key, and not with one of them or another's", async () => {
    const { credentials } = await signIn();
    const { credentials: other } = await signIn();
    const { cookie, "x-rookery-page-key": key } = credentials;
    const statusWith = async (headers: Record<string, string>) => (await get("/v1/tasks", headers)).status;
    expect(await statusWith(credentials)).toBe(200);
    expect(await statusWith({ cookie })).toBe(401);
    expect(await statusWith({ "x-rookery-page-key": key })).toBe(401);
    expect(await statusWith({ cookie, "x-rookery-page-key": other["x-rookery-page-key"] })).toBe(401);
    expect(await statusWith({ cookie: cookie.replace(/.$/, "!"), "x-rookery-page-key": key })).toBe(401);
    const later = cookie.replace(/\.(\d+)\./, (_, expiry: string) => `.${Number(expiry) + 1}.`);
    expect(await statusWith({ cookie: later, "x-rookery-page-key": key })).toBe(401);
  });

  it("can change something only from its own origin", async () => {
    const { credentials } = await signIn();
    const post = async (headers: Record<string, string>): Promise<number> =>
      (await get("/v1/sign-out", { ...credentials, ...JSON_BODY, ...headers }, POST)).status;
    expect(await post({ origin: url })).toBe(204);
    expect(await post({ "sec-fetch-site": "same-origin" })).toBe(204);
    expect(await post({ "sec-fetch-site": "same-site" })).toBe(403);
    expect(await post({ origin: "http://127.0.0.1:1" })).toBe(403);
    expect(await post({ origin: "null" })).toBe(403);
  });

  it("stays signed in when the server starts again with the same token, for 30 days", () => {
    const rules = { token: "a-token-of-the-server", port: 7433, isSecure: false };
    const { cookie, key } = makeSignIn(rules, 0);
    const request = { headers: { cookie: cookie.split(";")[0]!, "x-rookery-page-key": key } };
    expect(isSignedIn(request, rules, 30 * 86_400_000 - 1)).toBe(true);
    expect(isSignedIn(request, rules, 30 * 86_400_000)).toBe(false);
    expect(isSignedIn(request, { ...rules, token: "another-token-of-it" }, 1)).toBe(false);
    expect(isSignedIn(request, { ...rules, port: 7434 }, 1)).toBe(false);
  });

  it("can sign out, which deletes the cookie", async () => {
    const { credentials } = await signIn();
    const response = await get("/v1/sign-out", { ...credentials, ...JSON_BODY, origin: url }, POST);
    expect(response.headers.get("set-cookie")).toMatch(/^rookery_\d+=; Path=\/; Max-Age=0;/);
  });
});

describe("the files of the page", () => {
  it.each(["/", "/board", "/inbox", "/session/ses_1", "/task/fix-it", "/task/fix-it/changes"])(
    "%s shows the page, with a strict policy for its content",
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(await response.text()).toMatch(/<script type="module" crossorigin src="\/assets\/index-[\w-]+\.js">/);
      const policy = response.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|http|data:/);
      expect(response.headers.get("x-frame-options")).toBe("DENY");
      expect(response.headers.get("cache-control")).toBe("no-cache");
    },
  );

  it("are compressed, cached by their name and checked by their hash", async () => {
    const asset = /\/assets\/index-[\w-]+\.js/.exec(await (await get("/")).text())?.[0] ?? "";
    const response = await get(asset);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    const etag = response.headers.get("etag") ?? "";
    expect((await get(asset, { "if-none-match": etag })).status).toBe(304);
    const plain = await get(asset, { "accept-encoding": "identity" });
    expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, await response.text()]);
  });

  it.each(["/nothing", "/assets/", "/assets/../index.html", "/assets/%2e%2e%2fpackage.json", "/.vite/manifest.json"])(
    "%s is not one of them",
    async (path) => {
      const host = `127.0.0.1:${scene.server.port}`;
      const raw = await scene.raw(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(raw).toMatch(/^HTTP\/1\.1 40[14] /);
    },
  );
});

describe("behind a proxy", () => {
  it("accepts the public origin, and sets a cookie for https only", async () => {
    await using proxied = await openHttp([], { publicUrl: "https://rookery.example" });
    const { url: link } = proxied.server.makeSignInLink();
    expect(link).toMatch(/^https:\/\/rookery\.example\/sign-in\?ticket=/);
    const response = await fetch(`${proxied.server.url}/sign-in${new URL(link).search}`, { redirect: "manual" });
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/; Secure$/);
    const headers = {
      ...JSON_BODY,
      cookie: cookie.split(";")[0]!,
      "x-rookery-page-key": response.headers.get("location")?.split("#key=")[1] ?? "",
      origin: "https://rookery.example",
    };
    expect((await fetch(`${proxied.server.url}/v1/sign-out`, { ...POST, headers })).status).toBe(204);
  });

  it.each(["rookery.example", "https://rookery.example/path", "ftp://rookery.example", "https://u:p@rookery.example"])(
    "refuses the public URL %s",
    async (publicUrl) => {
      await expect(openHttp([], { publicUrl })).rejects.toMatchObject({ code: "input_invalid" });
    },
  );
});
