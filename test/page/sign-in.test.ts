// own process: starts a browser
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openHttp, type HttpScene } from "../../src/server/http/test-scene.ts";
import { temporaryFolder } from "../../src/testing/index.ts";
import { DisposeStack } from "../../src/stdx/index.ts";
import { findBrowser, startBrowser } from "./browser.ts";

const found = await findBrowser();

describe.skipIf("missing" in found)(`the page in a browser${"missing" in found ? `: ${found.missing}` : ""}`, () => {
  const owned = new DisposeStack();
  let scene: HttpScene;
  let browser: Browser;
  beforeAll(async () => {
    scene = owned.use(await openHttp());
    browser = await startBrowser(owned.use(await temporaryFolder()).path);
    owned.defer(() => browser.close());
  });
  afterAll(() => owned[Symbol.asyncDispose]());

  async function openPage(path: string): Promise<Page> {
    const page = await (await browser.newContext()).newPage();
    await page.goto(path.startsWith("http") ? path : `${scene.server.url}${path}`);
    return page;
  }

  it("says how to sign in, and signs in with a link", async () => {
    const page = await openPage("/");
    await page.getByText("This browser is not signed in.").waitFor();
    await page.goto(scene.server.makeSignInLink().url);
    await page.getByText("No tasks or sessions yet.").waitFor();
    expect(page.url()).toBe(`${scene.server.url}/`);
    await page.reload();
    await page.getByText("No tasks or sessions yet.").waitFor();
  });

  it("keeps the token out of the page, its storage and its history", async () => {
    const page = await openPage(scene.server.makeSignInLink().url);
    await page.getByText("No tasks or sessions yet.").waitFor();
    const known = await page.evaluate(() =>
      JSON.stringify([
        document.cookie,
        Object.entries(localStorage),
        Object.entries(sessionStorage),
        document.documentElement.outerHTML,
      ]),
    );
    expect(known).not.toContain(scene.server.token);
    expect(await page.evaluate(() => document.cookie)).toBe("");
    await page.goBack();
    expect(page.url()).not.toContain("key=");
  });

  it("signs a tab out when the browser signs in again in another one", async () => {
    const first = await openPage(scene.server.makeSignInLink().url);
    await first.getByText("No tasks or sessions yet.").waitFor();
    const second = await first.context().newPage();
    await second.goto(scene.server.makeSignInLink().url);
    await second.getByText("No tasks or sessions yet.").waitFor();
    await first.getByText("The server does not know this browser.").waitFor();
    expect(await second.getByRole("alert").count()).toBe(0);
  });

  it("says that a link was used", async () => {
    const { url } = scene.server.makeSignInLink();
    await openPage(url);
    const page = await openPage(url);
    await page.getByText("This link was used before").waitFor();
  });

  it("can be installed: the browser accepts the manifest and its icons", async () => {
    const page = await openPage(scene.server.makeSignInLink().url);
    await page.locator("h1").waitFor();
    const session = await page.context().newCDPSession(page);
    const { url, errors, data } = await session.send("Page.getAppManifest");
    expect([new URL(url).pathname, errors]).toEqual(["/manifest.webmanifest", []]);
    const { icons } = JSON.parse(data ?? "") as { readonly icons: readonly { src: string; sizes: string }[] };
    const sizes = await page.evaluate(
      (sources) =>
        Promise.all(
          sources.map(async (source) => {
            const image = new Image();
            image.src = source;
            await image.decode();
            return `${image.naturalWidth}x${image.naturalHeight}`;
          }),
        ),
      icons.slice(1).map(({ src }) => src),
    );
    expect(sizes).toEqual(icons.slice(1).map((icon) => icon.sizes));
    expect(await page.evaluate(() => navigator.serviceWorker.getRegistrations())).toEqual([]); // nothing is cached
  });
});
