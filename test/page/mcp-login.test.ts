// own process: starts a browser
import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { userConfigFile } from "../../src/config/index.ts";
import { startTestAuthorization } from "../../src/mcp/oauth/test-authorization.ts";
import { openHttp } from "../../src/server/http/test-scene.ts";
import { temporaryFolder } from "../../src/testing/index.ts";
import { findBrowser, startBrowser } from "./browser.ts";

const found = await findBrowser();

describe.skipIf("missing" in found)("the agents screen", () => {
  it("logs in to an MCP server in a new tab, and out of it", async () => {
    await using vault = await startTestAuthorization();
    await using scene = await openHttp();
    await using folder = await temporaryFolder();
    const file = userConfigFile(scene.env);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `[mcp.vault]\nurl = "${vault.url}"\n[mcp.local]\ncommand = ["true"]\n`);
    expect((await scene.post("/v1/mcp/local/login", {})).json.code).toBe("usage");
    expect((await scene.post("/v1/mcp/absent/login", {})).json.code).toBe("mcp_unknown");
    const browser = await startBrowser(folder.path);
    try {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(scene.server.makeSignInLink().url);
      await page.locator("h1").waitFor();
      await page.goto(`${scene.server.url}/agents`);
      const tab = context.waitForEvent("page");
      await page.getByRole("button", { name: "Log in to vault" }).click();
      await (await tab).waitForURL(/127\.0\.0\.1/); // the page of this test consents at once
      await page.getByText("Logged in.").waitFor();
      await page.getByText("ready", { exact: true }).last().waitFor();
      expect(vault.counts).toMatchObject({ pages: 1, exchanges: 1 });
      await page.getByRole("button", { name: "Log in to vault" }).click();
      await page.getByText("No login is needed: the server is ready.").waitFor();
      await page.getByRole("button", { name: "Log out of vault" }).click();
      await page.getByText("Logged out.").waitFor();
      await page.getByText("needs login").waitFor();
    } finally {
      await browser.close();
    }
  });
});
