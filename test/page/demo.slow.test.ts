// own process: starts a browser
import { expect, it } from "vitest";
import { findBrowser } from "./browser.ts";
import { openPageScene } from "./scene.ts";

const found = await findBrowser();

it.skipIf("missing" in found)(
  "runs the demo task without a key, even if the server is killed during it",
  async () => {
    await using scene = await openPageScene();
    const page = await scene.open();
    await page.getByRole("button", { name: "Run the demo task" }).click();
    await page.waitForURL(/\/task\//);
    const allow = page.getByRole("button", { name: "Allow y", exact: true });
    await allow.click(); // the tests
    await page.getByText("I will fix that.").waitFor();
    await allow.waitFor(); // the edit
    await scene.kill();
    await page.getByText("Disconnected from the server.").waitFor();
    await scene.restart();
    await page.getByText("Disconnected from the server.").waitFor({ state: "detached" });
    await allow.click();
    await page.getByText("I will run the tests again.").waitFor();
    await allow.click();
    await page.getByText("It adds them now, and the test passes.").waitFor();
    const { data } = await scene.client.GET("/v1/tasks");
    expect(data?.tasks).toMatchObject([{ title: "Demo: fix a failing test", agent: "anthropic" }]);
    const id = data?.tasks[0]?.id ?? "";
    const diff = await scene.client.GET("/v1/tasks/{id}/diff", { params: { path: { id } } });
    expect(diff.data?.files).toMatchObject([{ path: "sum.mjs" }]);
  },
  120_000,
);
