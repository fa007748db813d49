// own process: starts a browser
import { expect, it } from "vitest";
import { findBrowser } from "./browser.ts";
import { openTaskScene } from "./task-scene.ts";

const found = await findBrowser();

it.skipIf("missing" in found)("keeps only the rows in view of a diff of 50,000 lines in the document", async () => {
  await using scene = await openTaskScene();
  const prompt = "run: seq 1 50000 | sed 's/.*/const value& = &;/' > long.ts";
  await scene.tasks.start({ id: "long", title: "Long", prompt, agent: "robin" });
  await scene.until("long", "done");
  const { page, problems } = await scene.openPage("/task/long/changes");
  const diff = page.getByRole("grid", { name: "Changes" });
  await diff.getByText("const value1 = 1;").waitFor();
  await diff.focus();
  await page.keyboard.press("End");
  await diff.getByText("const value50000 = 50000;").waitFor();
  expect(await diff.locator(".diff-row").count()).toBeLessThan(150);
  await page.keyboard.press("c");
  await page.keyboard.type("The end.");
  await page.keyboard.press("Home"); // inside the box
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Home");
  await diff.getByText("const value1 = 1;").waitFor();
  await page.getByRole("button", { name: "Split" }).click();
  await diff.focus();
  await page.keyboard.press("End");
  await diff.getByText("The end.").waitFor();
  expect(problems).toEqual([]);
});
