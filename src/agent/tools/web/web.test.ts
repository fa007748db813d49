import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openScene, type Scene } from "../test-scene.ts";
import { classifyAddress } from "./address.ts";
import { htmlToText } from "./html-to-text.ts";
import { getPage } from "./get-page.ts";

let scene: Scene;
beforeEach(async () => {
  scene = await openScene();
});
afterEach(() => scene[Symbol.asyncDispose]());

async function startServer(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const stop = () => new Promise<void>((resolve) => (server.closeAllConnections(), server.close(() => resolve())));
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: stop };
}

const get = (url: string) => scene.run("fetch", { url });

describe("fetch", () => {
  it("follows a redirect, decompresses the page and returns it as text", async () => {
    await using web = await startServer((request, response) => {
      if (request.url === "/") return response.writeHead(302, { location: "/page" }).end();
      const headers = { "content-type": "text/html; charset=utf-8", "content-encoding": "gzip" };
      response.writeHead(200, headers).end(gzipSync("<h1>Hi</h1><p>there &amp; <a href='/x'>here</a>"));
    });
    const { outcome, text } = await get(web.url);
    expect([outcome, text]).toEqual([
      "ok",
      `${web.url}/page · 200 · text/html; charset=utf-8\n\n# Hi\n\nthere & here (${web.url}/x)`,
    ]);
  });

  it("reports an error status, binary data and a redirect loop", async () => {
    await using web = await startServer((request, response) => {
      if (request.url === "/gone") return response.writeHead(404, { "content-type": "text/plain" }).end("no such page");
      if (request.url === "/loop") return response.writeHead(302, { location: "/loop" }).end();
      response.end(Buffer.from([1, 0, 2]));
    });
    expect(await get(`${web.url}/gone`)).toMatchObject({
      outcome: "failed",
      text: expect.stringContaining("no such page") as string,
    });
    expect((await get(`${web.url}/loop`)).text).toContain("redirects more than 5 times");
    expect((await get(web.url)).text).toContain("3 bytes of binary data");
  });

  it("stops reading an endless page at the limit", async () => {
    await using web = await startServer((_, response) => {
      response.writeHead(200, { "content-type": "text/plain" });
      const more = (): void => {
        while (!response.destroyed && response.write("word ".repeat(10_000)));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    });
    const { outcome, text } = await get(web.url);
    expect([outcome, text.includes("· truncated"), text.length < 31_000]).toEqual(["ok", true, true]);
  });

  it.each([
    ["file:///etc/passwd", "only http and https are"],
    ["example", "is not a valid URL"],
    ["http://me:secret@127.0.0.1/", "password"],
    ["http://169.254.169.254/latest", "which is a forbidden address"],
    ["http://[::ffff:169.254.169.254]/", "which is a forbidden address"],
    ["http://127.0.0.1:1/", "cannot fetch"],
  ])("rejects %s with a message", async (url, words) => {
    expect(await get(url)).toMatchObject({ outcome: "failed", text: expect.stringContaining(words) as string });
  });
});

it.each([
  ["public", "private", "was not followed"],
  ["private", "private", undefined],
  ["private", "public", undefined],
  ["public", "forbidden", "a forbidden address"],
] as const)("checks a redirect from a %s address to a %s one", async (first, second, words) => {
  await using web = await startServer((request, response) => {
    const isFirst = request.headers.host?.startsWith("127.0.0.1") === true;
    const location = web.url.replace("127.0.0.1", "localhost");
    if (isFirst && request.url === "/") response.writeHead(307, { location }).end();
    else response.end("got it");
  });
  let asked = 0;
  const zones = () => ((asked += 1) === 1 ? first : second);
  const page = getPage(web.url, new AbortController().signal, zones);
  if (words === undefined) expect((await page).bytes.toString()).toBe("got it");
  else await expect(page).rejects.toThrow(words);
});

it.each([
  ["127.0.0.1", "private"],
  ["10.1.2.3", "private"],
  ["::1", "private"],
  ["::ffff:127.0.0.1", "private"],
  ["::ffff:7f00:1", "private"],
  ["fd12::1", "private"],
  ["fe80::1", "forbidden"],
  ["169.254.169.254", "forbidden"],
  ["8.8.8.8", "public"],
  ["2606:4700::1111", "public"],
])("classifies %s as %s", (address, zone) => {
  expect(classifyAddress(address)).toBe(zone);
});

it.each([
  ["<script>bad()</script><style>p{}</style>good<!-- no -->", "good"],
  ["<ul><li>a<li>b</ul>", "- a\n- b"],
  ["<pre>a\n  b</pre>", "a\n  b"],
  ["1 < 2 &lt; &#51; &#x34; &nope;", "1 < 2 < 3 4 &nope;"],
  ["<a href='javascript:x'>a</a><a href='#b'>b</a>", "ab"],
  ["<script>never closed", ""],
])("converts %j to %j", (html, text) => {
  expect(htmlToText(html, "http://x.y/")).toBe(text);
});

describe("todo and ask", () => {
  it("records the plan in the log", async () => {
    const todos = [
      { content: "a", status: "completed" },
      { content: "b", status: "pending", priority: "high" },
    ];
    expect((await scene.run("todo", { todos })).text).toBe("plan recorded: 1 completed, 0 in progress, 1 pending");
    expect(scene.recorded).toEqual([{ type: "plan.updated", entries: todos }]);
  });

  it("returns the user's answer, or says that nobody answered", async () => {
    const ask = () => Promise.resolve({ action: "accept" as const, content: { answer: "red" } });
    const input = { question: "Which?", choices: ["red", "blue"] };
    expect((await scene.run("ask", input, { ask })).text).toBe("the user answered: red");
    expect((await scene.run("ask", input)).text).toContain("nobody answered");
  });
});
